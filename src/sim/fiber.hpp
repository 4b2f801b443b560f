/// \file fiber.hpp
/// A function on a stack of its own, which can stop in the middle and be resumed there.
///
/// A function that is not resumed is unwound: an exception leaves it, so that it leaks nothing. No
/// other exception may leave it. Threads: all calls from one.
#pragma once
#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace tutti::sim {

class Fiber {
 public:
  Fiber();
  /// Unwinds the function if it has not ended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the function until it stops or ends. Not while another function is under way here.
  void start(std::function<void()> function);
  /// Goes on where it has stopped.
  void resume();
  /// Inside the function: stops it, until resume() or unwind().
  void stop();
  /// Ends a function that has stopped.
  void unwind();
  [[nodiscard]] bool under_way() const { return under_way_; }

 private:
  struct Unwound {};
  // A stack as the sanitizers need it; empty: the stack of the caller of resume().
  struct Side {
    const void* stack = nullptr;
    std::size_t bytes = 0;
    void* fake_stack = nullptr;  // AddressSanitizer's
    void* fiber = nullptr;       // ThreadSanitizer's
    ucontext_t context{};
  };

  static void enter(unsigned low, unsigned high);
  void run();
  // for_good: the side `from` does not run again.
  void change(Side& from, Side& to, bool for_good = false);
  void arrived(Side& here, Side& from);

  std::function<void()> function_;
  bool under_way_ = false;
  bool unwinds_ = false;
  void* memory_ = nullptr;
  Side here_;    // the function's
  Side caller_;  // of start() and resume()
};

}  // namespace tutti::sim
