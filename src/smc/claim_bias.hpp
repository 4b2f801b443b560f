/// \file claim_bias.hpp
/// Lets one thread claim without locked instructions for as long as no other does.
///
/// The ring belongs to nobody, then to the first thread that claims. The next thread takes it over,
/// for often one thread sets up what another one uses. After kOwners owners it belongs to all for
/// good, as it does once two threads want it at the same time, or close() asks. An owner enters and
/// leaves with plain stores.
///
/// Invariants:
///  K1  While one thread is inside enter() .. leave(), no other is inside, and no share() and no
///      take-over has returned.
///  K2  Each owner has a flag of its own: one that is late, and does not know yet that it lost the
///      ring, raises and lowers only a flag that nobody looks at any more.
/// Threads: any. Progress: a take-over and share() wait for the owner to leave a few instructions,
/// so many times in the ring's life; afterwards everything is lock-free.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/asymmetric_fence.hpp"
#include "base/thread_id.hpp"

namespace tutti {

class ClaimBias {
 public:
  /// So many threads own the ring, one after the other, before it is shared.
  static constexpr std::size_t kOwners = 8;

  ClaimBias() : owner_(fence_.asymmetric() ? kNobody : kShared) {}

  /// True: this thread owns the ring until leave(). False: the ring is shared, use atomics.
  [[nodiscard]] bool enter() {
    const std::uintptr_t self = current_thread_id();
    // Acquire: pairs with the store of kShared, for threads that did not revoke.
    const std::uintptr_t owner = owner_.load(std::memory_order_acquire);
    if (owner == kShared) return false;
    std::uintptr_t turn = owner ^ self;  // of an owner: below kOwners
    if (turn >= kOwners) [[unlikely]] {
      turn = take_over(self);
      if (turn == kOwners) return false;
    }
    busy_[turn].store(true, std::memory_order_relaxed);
    fence_.light();  // K1: pairs with the heavy one in revoke()
    if (owner_.load(std::memory_order_relaxed) == (self | turn)) return true;
    busy_[turn].store(false, std::memory_order_release);
    share();
    return false;
  }

  // Release: pairs with revoke(): what the owner did inside is seen by those who come after.
  void leave() { busy_[turn_].store(false, std::memory_order_release); }

  /// Takes the ring from its owner, for all threads and for good.
  void share();

 private:
  // The owner's number of its thread, which is a multiple of kOwners, and its turn; or one of
  // these.
  static constexpr std::uintptr_t kNobody = 0;
  static constexpr std::uintptr_t kRevoking = 1;
  static constexpr std::uintptr_t kShared = 2;

  [[nodiscard]] std::uintptr_t take_over(std::uintptr_t self);
  [[nodiscard]] bool revoke(std::uintptr_t owner);

  AsymmetricFence fence_;
  std::atomic<std::uintptr_t> owner_;
  std::array<std::atomic<bool>, kOwners> busy_{};
  std::uintptr_t turn_ = 0;  // the owner's; changes only while nobody can be inside
};

}  // namespace tutti
