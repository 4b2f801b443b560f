/// \file claim_bias.hpp
/// Lets the first thread that claims do so without locked instructions, until a second one comes.
///
/// The ring belongs to nobody, then to one thread (which enters and leaves with plain stores),
/// then, once another thread or close() asks, to all for good. Invariant K1: while one thread is
/// inside enter() .. leave(), no other is inside, and share() has not returned. Threads: any.
/// Progress: share() waits for the owner to leave a few instructions, once in the ring's life;
/// afterwards everything is lock-free.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/asymmetric_fence.hpp"
#include "base/thread_id.hpp"

namespace tutti {

class ClaimBias {
 public:
  ClaimBias() : owner_(fence_.asymmetric() ? kNobody : kShared) {}

  /// True: this thread owns the ring until leave(). False: the ring is shared, use atomics.
  [[nodiscard]] bool enter() {
    const std::uintptr_t self = current_thread_id();
    // Acquire: pairs with the store of kShared, for threads that did not revoke.
    const std::uintptr_t owner = owner_.load(std::memory_order_acquire);
    if (owner == kShared) return false;
    if (owner != self && !adopt(self)) return false;
    busy_.store(true, std::memory_order_relaxed);
    fence_.light();  // K1: pairs with the heavy one in share()
    if (owner_.load(std::memory_order_relaxed) == self) return true;
    leave();
    share();
    return false;
  }

  // Release: pairs with share(): what the owner did inside is seen by those who come after.
  void leave() { busy_.store(false, std::memory_order_release); }

  /// Takes the ring from its owner, for all threads and for good.
  void share();

 private:
  static constexpr std::uintptr_t kNobody = 0;
  static constexpr std::uintptr_t kRevoking = 1;
  static constexpr std::uintptr_t kShared = 2;

  [[nodiscard]] bool adopt(std::uintptr_t self);

  AsymmetricFence fence_;
  std::atomic<std::uintptr_t> owner_;
  std::atomic<bool> busy_{false};
};

}  // namespace tutti
