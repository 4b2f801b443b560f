#include "smc/claim_bias.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

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

TEST(ClaimBias, PassesToAThreadThatComesLater) {
  ClaimBias bias;
  const bool owned = bias.enter();
  if (owned) bias.leave();
  std::thread([&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(bias.enter(), owned);
      if (owned) bias.leave();
    }
  }).join();
}

TEST(ClaimBias, IsSharedAfterSoManyOwners) {
  ClaimBias bias;
  const bool owned = bias.enter();
  if (owned) bias.leave();
  // All live at the same time: a thread that ends may leave its number to the next.
  std::atomic<std::size_t> turn{1};
  std::vector<std::thread> threads;
  for (std::size_t mine = 1; mine <= ClaimBias::kOwners; ++mine) {
    threads.emplace_back([&, mine] {
      while (turn.load() != mine) sched_yield();
      const bool entered = bias.enter();
      EXPECT_EQ(entered, owned && mine < ClaimBias::kOwners) << mine;
      if (entered) bias.leave();
      turn.store(mine + 1);
      while (turn.load() <= ClaimBias::kOwners) sched_yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(bias.enter());
}

// K1, K2: threads take the ring from each other at any moment, and change plain memory inside.
TEST(ClaimBias, K1OnlyOneOwnerIsInside) {
  for (int round = 0; round < 300; ++round) {
    ClaimBias bias;
    std::uint64_t guarded = 0;
    std::atomic<std::uint64_t> entered{0};
    const auto enter_often = [&](std::uint64_t most) {
      std::uint64_t mine = 0;
      while (mine < most && bias.enter()) {
        ++guarded;
        bias.leave();
        ++mine;
      }
      entered.fetch_add(mine);
    };
    std::thread second([&] { enter_often(3 + static_cast<std::uint64_t>(round) % 40); });
    std::thread third([&] { enter_often(100); });
    enter_often(100);
    second.join();
    third.join();
    bias.share();
    ASSERT_EQ(guarded, entered.load());
  }
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
