/// \file readiness.hpp
/// A descriptor that is readable while an application that takes messages has reason to look: for
/// its own event loop. It costs nothing until it is asked for.
///
/// Invariant RD1: it is unreadable only while `armed_`. A taker that finds nothing arms it, then
/// looks again; the predicate thread, once it has let more be taken, asks whether it is armed. Both
/// put a fence in between, so that either the look sees the change, or the change sees that it is
/// armed. Threads: get(), end() any; arm(), disarm() the taker; is_armed(), rise() the predicate
/// thread.
#pragma once
#include <atomic>
#include <mutex>

#include "tutti/error.hpp"

namespace tutti {

class Readiness {
 public:
  Readiness() = default;
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  /// The descriptor, made at the first call; readable at first.
  [[nodiscard]] Result<int> get();

  /// False if nobody has asked for the descriptor, or it stays readable.
  [[nodiscard]] bool arm();
  void disarm() { rise(); }

  /// Relaxed: the caller has put a fence after its change (RD1).
  [[nodiscard]] bool is_armed() const { return armed_.load(std::memory_order_relaxed); }
  /// It becomes readable.
  void rise();
  /// It is readable from now on.
  void end();

 private:
  std::mutex making_;
  std::atomic<int> descriptor_{-1};
  std::atomic<bool> armed_{false};
  std::atomic<bool> ended_{false};
};

}  // namespace tutti
