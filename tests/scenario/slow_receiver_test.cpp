/// D12: a receiver that does not deliver for long keeps its messages; the senders wait for it when
/// their windows are full, and for nothing else.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/schedule.hpp"

namespace tutti::testing {
namespace {

GroupOptions group_with_own_thread(Level level) {
  GroupOptions group = small_group("g", "abc", "ab", level);
  group.delivery = DeliveryThread::own;
  return group;
}

void pass_all(World& world, int times) {
  for (int i = 0; i < times; ++i) {
    for (std::uint32_t node = 0; node < world.nodes(); ++node) world.pass(node);
  }
}

class SlowReceiver : public ::testing::TestWithParam<Level> {};

// Member c's node acknowledges, but its delivery thread does not run.
TEST_P(SlowReceiver, HoldsTheSendersBackByTheirWindowOnly) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    World world(
        {.seed = seed, .nodes = 3, .groups = {group_with_own_thread(GetParam())}, .nested = false});
    World::Part& sender = world.part(0);
    std::uint64_t sent = 0;
    for (int i = 0; i < 100; ++i) {
      sent += world.send(sender, 20) ? 1 : 0;
      pass_all(world, 5);
      world.deliver_here(sender);
      world.deliver_here(world.part(1));
    }
    ASSERT_TRUE(world.settle());  // lets c deliver at the end
    EXPECT_EQ(world.log().delivered_at(2), sent);
    EXPECT_EQ(sent, 16U) << "the window";
    EXPECT_TRUE(world.send(sender, 20)) << "and then it goes on";
    ASSERT_EQ(world.findings(), "");
  }
}

// In every callback of c the others run on; the log looks at the bytes again at its end.
TEST_P(SlowReceiver, KeepsItsMessagesWhileItsCallbackRuns) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const Wires wires : {Wires::faulty, Wires::landing, Wires::shared}) {
      GroupOptions group = group_with_own_thread(GetParam());
      group.window_messages = seed % 2 == 0 ? 4 : 1024;
      const std::string findings = run_to_the_end(
          {.seed = seed, .nodes = 3, .groups = {group}, .wires = wires, .talkative = true},
          {.messages_max = 200});
      ASSERT_EQ(findings, "") << "seed " << seed;
    }
  }
}

// Before it runs again, everything it has not delivered is still there.
TEST_P(SlowReceiver, FindsItsMessagesAfterALongSleep) {
  constexpr std::uint64_t kSeeds = 30;
  std::uint64_t deliverable = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    World world({.seed = seed, .nodes = 3, .groups = {small_group("g", "abc", "ab", GetParam())}});
    Prng random(seed);
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 100; ++i) {
        const auto node = static_cast<std::uint32_t>(random.below(2));
        world.send(world.part(node), static_cast<std::uint32_t>(random.below(300)));
        world.pass(node);
      }
      for (int i = 0; i < 30; ++i) world.pass(2);
    }
    ASSERT_TRUE(world.settle());
    EXPECT_EQ(world.log().delivered_at(2), world.log().deliverable());
    deliverable += world.log().deliverable();
    ASSERT_EQ(world.findings(), "");
  }
  EXPECT_GT(deliverable, 100 * kSeeds) << "many windows in each world";
}

std::string level_name(const ::testing::TestParamInfo<Level>& level) {
  return std::array{"Unordered", "Agreed", "Atomic"}[static_cast<std::size_t>(level.param)];
}

INSTANTIATE_TEST_SUITE_P(Levels, SlowReceiver,
                         ::testing::Values(Level::atomic, Level::agreed, Level::unordered),
                         level_name);

}  // namespace
}  // namespace tutti::testing
