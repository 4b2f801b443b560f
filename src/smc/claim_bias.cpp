#include "smc/claim_bias.hpp"

#include <sched.h>

#include "base/assert.hpp"

namespace tutti {

// The owner's turn, kOwners if the ring is shared.
std::uintptr_t ClaimBias::take_over(std::uintptr_t self) {
  TUTTI_ASSERT(self > kShared && self % kOwners == 0, self);
  std::uintptr_t owner = kNobody;
  if (owner_.compare_exchange_strong(owner, self, std::memory_order_acquire)) return 0;
  const std::uintptr_t next = owner % kOwners + 1;
  if (owner == kShared || owner == kRevoking || next == kOwners || !revoke(owner)) {
    share();
    return kOwners;
  }
  turn_ = next;
  // Release: pairs with enter() and revoke(): the next one sees what the owners before did.
  owner_.store(self | next, std::memory_order_release);
  return next;
}

// True: nobody is inside, or comes inside before owner_ is stored again. False: somebody else came
// first.
bool ClaimBias::revoke(std::uintptr_t owner) {
  if (!owner_.compare_exchange_strong(owner, kRevoking, std::memory_order_acquire)) return false;
  fence_.heavy();  // K1: the owner sees kRevoking, or we see it busy
  const std::atomic<bool>& busy = busy_[owner % kOwners];
  while (busy.load(std::memory_order_acquire)) sched_yield();
  TUTTI_ASSERT(owner_.load(std::memory_order_relaxed) == kRevoking, owner);
  return true;
}

void ClaimBias::share() {
  std::uintptr_t owner = owner_.load(std::memory_order_acquire);
  while (owner != kShared) {
    if (owner == kRevoking) {  // one revokes, the others wait for it
      sched_yield();
    } else if (revoke(owner)) {
      // Release: pairs with the loads of owner_ by threads that did not revoke.
      owner_.store(kShared, std::memory_order_release);
      return;
    }
    owner = owner_.load(std::memory_order_acquire);
  }
}

}  // namespace tutti
