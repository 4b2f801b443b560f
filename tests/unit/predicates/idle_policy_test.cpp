#include "predicates/idle_policy.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using std::chrono::nanoseconds;

Idle idle(std::int64_t spin_ns, std::int64_t yield_ns, bool sleep) {
  return {.spin = nanoseconds(spin_ns), .yield = nanoseconds(yield_ns), .sleep = sleep};
}

TEST(IdlePolicy, SpinsThenYieldsThenSleeps) {
  IdlePolicy policy(idle(100, 50, true));
  EXPECT_EQ(policy.next(1000), IdleAction::spin) << "idle from here on";
  EXPECT_EQ(policy.next(1099), IdleAction::spin);
  EXPECT_EQ(policy.next(1100), IdleAction::yield);
  EXPECT_EQ(policy.next(1149), IdleAction::yield);
  EXPECT_EQ(policy.next(1150), IdleAction::sleep);
  EXPECT_EQ(policy.next(999'999), IdleAction::sleep);
}

TEST(IdlePolicy, StartsAgainAfterWork) {
  IdlePolicy policy(idle(100, 50, true));
  EXPECT_EQ(policy.next(0), IdleAction::spin);
  EXPECT_EQ(policy.next(500), IdleAction::sleep);
  policy.worked();
  EXPECT_EQ(policy.next(600), IdleAction::spin);
  EXPECT_EQ(policy.next(700), IdleAction::yield);
}

TEST(IdlePolicy, StaysAwakeWhileBytesLand) {
  IdlePolicy policy(idle(0, 50, true));
  EXPECT_EQ(policy.next(0), IdleAction::yield);
  EXPECT_EQ(policy.next(49), IdleAction::yield);
  policy.landed();
  EXPECT_EQ(policy.next(60), IdleAction::yield);
  EXPECT_EQ(policy.next(110), IdleAction::sleep);
}

TEST(IdlePolicy, SleepsOnAfterBytesThatNothingCameOf) {
  IdlePolicy policy(idle(0, 50, true));
  EXPECT_EQ(policy.next(0), IdleAction::yield);
  EXPECT_EQ(policy.next(50), IdleAction::sleep);
  policy.landed();
  EXPECT_EQ(policy.next(1000), IdleAction::sleep);
  policy.worked();
  EXPECT_EQ(policy.next(2000), IdleAction::yield);
  policy.landed();
  EXPECT_EQ(policy.next(2060), IdleAction::yield) << "it has not slept since it worked";
}

TEST(IdlePolicy, SleepsAtOnceWithoutSpinAndYield) {
  IdlePolicy policy(idle(0, 0, true));
  EXPECT_EQ(policy.next(0), IdleAction::sleep);
}

TEST(IdlePolicy, YieldsForEverWithoutSleep) {
  IdlePolicy policy(idle(10, 10, false));
  EXPECT_EQ(policy.next(0), IdleAction::spin);
  EXPECT_EQ(policy.next(1'000'000), IdleAction::yield);
}

TEST(IdlePolicy, SpinsForEverWithoutYieldAndSleep) {
  IdlePolicy policy(idle(0, 0, false));
  EXPECT_EQ(policy.next(0), IdleAction::spin);
  EXPECT_EQ(policy.next(1'000'000), IdleAction::spin);
}

}  // namespace
}  // namespace tutti
