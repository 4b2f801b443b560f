#include "smc/claim_bias.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

namespace tutti {
namespace {

TEST(ClaimBias, BelongsToTheFirstThread) {
  ClaimBias bias;
  const bool owned = bias.enter();  // false where the kernel lacks membarrier
  if (owned) bias.leave();
  EXPECT_EQ(bias.enter(), owned);
  if (owned) bias.leave();
}

TEST(ClaimBias, BelongsToNobodyOnceShared) {
  ClaimBias bias;
  if (bias.enter()) bias.leave();
  bias.share();
  EXPECT_FALSE(bias.enter());
  bias.share();
  EXPECT_FALSE(bias.enter());
}

TEST(ClaimBias, IsSharedOnceASecondThreadComes) {
  ClaimBias bias;
  if (bias.enter()) bias.leave();
  std::thread([&] { EXPECT_FALSE(bias.enter()); }).join();
  EXPECT_FALSE(bias.enter());
}

// K1: the owner changes plain memory inside; who comes after share() changes it too.
TEST(ClaimBias, K1ShareWaitsUntilTheOwnerHasLeft) {
  for (int round = 0; round < 500; ++round) {
    ClaimBias bias;
    std::uint64_t guarded = 0;
    std::atomic<std::uint64_t> turns{0};
    std::thread owner([&] {
      while (bias.enter()) {
        ++guarded;
        bias.leave();
        turns.fetch_add(1, std::memory_order_relaxed);
      }
    });
    while (turns.load(std::memory_order_relaxed) < 10 && round % 2 == 0) sched_yield();
    bias.share();
    const std::uint64_t seen = guarded;
    guarded = seen + 1;
    owner.join();
    ASSERT_EQ(guarded, seen + 1) << "the owner was inside after share()";
    ASSERT_EQ(turns.load(), seen);
  }
}

}  // namespace
}  // namespace tutti
