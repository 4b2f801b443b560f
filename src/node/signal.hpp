/// \file signal.hpp
/// Lets threads of one process wait until something has moved, at no cost while nobody waits.
///
/// The waiter: prepare(), look at the condition, wait(). The notifier: change the condition, then
/// notify(). Invariant G1: either the waiter's look sees the change, or notify() sees the waiter:
/// both sides put a seq_cst fence between their store and their load.
/// Threads: any. A futex, because std::atomic::wait takes no deadline.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tutti {

class Signal {
 public:
  /// Wakes all that wait. One fence and one load if nobody does.
  void notify() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // G1: pairs with prepare()
    notify_fenced();
  }

  /// The same for a caller that has put a seq_cst fence after its change itself (G1).
  void notify_fenced() {
    if (waiters_.load(std::memory_order_relaxed) != 0) wake();
  }

  /// Announces a waiter; to be followed by wait() or cancel().
  [[nodiscard]] std::uint32_t prepare() {
    waiters_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // G1: pairs with notify()
    return count_.load(std::memory_order_relaxed);
  }
  void cancel() { waiters_.fetch_sub(1, std::memory_order_relaxed); }

  /// Blocks until a notify() since prepare() returned `seen`, or the time-out.
  void wait(std::uint32_t seen, std::chrono::nanoseconds timeout);

 private:
  void wake();

  std::atomic<std::uint32_t> waiters_{0};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace tutti
