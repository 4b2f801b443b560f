/// \file fiber.hpp
/// A function on a stack of its own, which can stop in the middle and be resumed there.
///
/// One that is not to go on is unwound: an exception leaves it, so that nothing it holds is leaked.
/// No other exception may leave it. Threads: all calls from one.
#pragma once
#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace tutti::sim {

class Fiber {
 public:
  Fiber();
  /// Unwinds what has not ended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs it until it stops or ends. Not while another one is under way here.
  void start(std::function<void()> function);
  /// Goes on where it has stopped.
  void resume();
  /// Inside the function: stops it, until resume() or unwind().
  void stop();
  /// It has stopped, and does not go on.
  void unwind();
  [[nodiscard]] bool under_way() const { return under_way_; }

 private:
  struct Unwound {};
  // A stack as the sanitizers want to know it; empty: that of whoever resumes.
  struct Side {
    const void* stack = nullptr;
    std::size_t bytes = 0;
    void* fake_stack = nullptr;  // AddressSanitizer's
    void* fiber = nullptr;       // ThreadSanitizer's
    ucontext_t context{};
  };

  static void enter(unsigned low, unsigned high);
  void run();
  // For good: the side that is left does not come back.
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
