// An engine puts ticks, and wants to be passed for the next though nothing else happens.
#include <gtest/gtest.h>

#include <chrono>

#include "support/forged_node.hpp"

namespace tutti::testing {
namespace {

TEST(EngineTicks, AreWhatItWantsToBePassedFor) {
  constexpr std::uint64_t kEvery = 1'000'000;  // less than the time between two heartbeats
  GroupOptions options = forged_group();
  options.tick_every = std::chrono::nanoseconds(kEvery);
  sim::Plan plan = sim::make_plan(1, {options});
  plan.founders = 1;
  std::vector<AlignedRow> rows;
  rows.emplace_back(plan.rows.row_bytes());
  ForgedNode node(plan, 0, rows, NativeMemory{});
  const auto pass = [&node] {
    for (int i = 0; i < 10; ++i) node.pass();
  };
  pass();
  ASSERT_EQ(node.delivered.size(), 1U) << "the first comes at once";
  for (std::uint64_t tick = 1; tick <= 5; ++tick) {
    EXPECT_EQ(node.engine->next_pass_ns(), tick * kEvery);
    node.now_ns = tick * kEvery - 1;
    pass();
    EXPECT_EQ(node.delivered.size(), tick) << "the next is not due";
    node.now_ns = tick * kEvery;
    pass();
    EXPECT_EQ(node.delivered.size(), tick + 1);
  }
}

}  // namespace
}  // namespace tutti::testing
