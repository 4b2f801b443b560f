/// \file replicated_locks.hpp
/// The locks that separate queries and deliveries of a Replicated; not for applications.
/// Threads: any.
#pragma once
#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace tutti::detail {

/// Which state machines this thread is using: in query(), apply(), load, save or snapshot.
class InUse {
 public:
  explicit InUse(const void* machine) : machine_(machine), outer_(innermost) { innermost = this; }
  ~InUse() { innermost = outer_; }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  [[nodiscard]] static bool here(const void* machine) {
    for (const InUse* use = innermost; use != nullptr; use = use->outer_) {
      if (use->machine_ == machine) return true;
    }
    return false;
  }
  [[nodiscard]] static bool anywhere() { return innermost != nullptr; }

 private:
  static inline thread_local const InUse* innermost = nullptr;
  const void* machine_;
  const InUse* outer_;
};

/// A waiting writer goes before later readers, except readers that already use another machine: the
/// writer of that machine may wait for them.
class ReadersAndWriter {
 public:
  void lock() {
    turnstile_.lock();
    if (readers_.try_lock()) return;
    held_up_.store(true, std::memory_order_relaxed);
    readers_.lock();
    held_up_.store(false, std::memory_order_relaxed);
  }
  void unlock() {
    readers_.unlock();
    turnstile_.unlock();
  }
  void lock_shared() {
    if (InUse::anywhere()) return readers_.lock_shared();
    const std::lock_guard turn(turnstile_);
    readers_.lock_shared();
  }
  void unlock_shared() { readers_.unlock_shared(); }
  [[nodiscard]] bool held_up() const { return held_up_.load(std::memory_order_relaxed); }

 private:
  std::mutex turnstile_;       // held by a writer while it waits and writes
  std::shared_mutex readers_;  // with glibc, a waiting writer delays no reader
  std::atomic<bool> held_up_{false};
};

}  // namespace tutti::detail
