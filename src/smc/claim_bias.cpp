#include "smc/claim_bias.hpp"

#include <sched.h>

#include "base/assert.hpp"

namespace tutti {

bool ClaimBias::adopt(std::uintptr_t self) {
  TUTTI_ASSERT(self > kShared, self);
  std::uintptr_t nobody = kNobody;
  if (owner_.compare_exchange_strong(nobody, self, std::memory_order_relaxed)) return true;
  share();
  return false;
}

void ClaimBias::share() {
  std::uintptr_t owner = owner_.load(std::memory_order_acquire);
  while (owner != kShared) {
    if (owner != kRevoking &&
        owner_.compare_exchange_weak(owner, kRevoking, std::memory_order_relaxed)) {
      fence_.heavy();  // K1: the owner sees kRevoking, or we see it busy
      while (busy_.load(std::memory_order_acquire)) sched_yield();
      owner = owner_.load(std::memory_order_relaxed);
      TUTTI_ASSERT(owner == kRevoking, owner);  // one revokes, the others wait for it
      // Release: pairs with the loads of owner_ above by threads that did not revoke.
      owner_.store(kShared, std::memory_order_release);
      return;
    }
    if (owner == kRevoking) {
      sched_yield();
      owner = owner_.load(std::memory_order_acquire);
    }
  }
}

}  // namespace tutti
