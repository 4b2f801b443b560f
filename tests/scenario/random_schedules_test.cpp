/// Random schedules against the reference: whatever the timing, every member delivers what was
/// sent, once, in the group's order, and everything completes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/schedule.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kScheduleSeeds = 150;

struct Case {
  std::string name;
  std::uint32_t nodes;
  std::vector<GroupOptions> groups;
};

GroupOptions with_own_thread(GroupOptions group) {
  group.delivery = DeliveryThread::own;
  return group;
}

GroupOptions with_window(GroupOptions group, std::uint64_t bytes, std::uint32_t messages) {
  group.window_bytes = bytes;
  group.window_messages = messages;
  return group;
}

std::vector<Case> cases() {
  return {
      {"AllSend", 3, {small_group("g", "abc", "abc")}},
      {"OneMember", 1, {small_group("g", "a", "a")}},
      {"TwoMembers", 2, {small_group("g", "ab", "ab")}},
      {"OneSender", 4, {small_group("g", "abcd", "c")}},
      {"SomeSendersInAnotherOrder", 5, {small_group("g", "abcde", "dbe")}},
      {"Agreed", 3, {small_group("g", "abc", "abc", Level::agreed)}},
      {"Unordered", 3, {small_group("g", "abc", "cab", Level::unordered)}},
      {"OwnDeliveryThread", 3, {with_own_thread(small_group("g", "abc", "abc"))}},
      {"OwnDeliveryThreadUnordered",
       3,
       {with_own_thread(small_group("g", "abc", "abc", Level::unordered))}},
      {"WindowOfTwoMessages", 3, {with_window(small_group("g", "abc", "abc"), 4096, 2)}},
      {"WindowOfManyMessages", 3, {with_window(small_group("g", "abc", "abc"), 4096, 1024)}},
      {"OverlappingGroups",
       4,
       {small_group("x", "abcd", "abcd"), small_group("c", "bcd", "db", Level::agreed),
        with_own_thread(small_group("k", "da", "da")), small_group("a", "b", "b"),
        small_group("u", "cab", "ac", Level::unordered)}},
      {"EightMembers", 8, {small_group("g", "abcdefgh", "abcdefgh")}},
  };
}

class RandomSchedules : public ::testing::TestWithParam<Case> {
 protected:
  static void run(Wires wires) {
    const std::uint64_t seeds = kScheduleSeeds * 3 / GetParam().nodes / GetParam().groups.size();
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const std::string findings = run_to_the_end(
          {.seed = seed, .nodes = GetParam().nodes, .groups = GetParam().groups, .wires = wires});
      ASSERT_EQ(findings, "") << "seed " << seed;
    }
  }
};

TEST_P(RandomSchedules, DeliverTheSameEverywhereOverSlowWires) { run(Wires::faulty); }
TEST_P(RandomSchedules, DeliverTheSameEverywhereWhenWritesLandWithinAStep) { run(Wires::landing); }
TEST_P(RandomSchedules, DeliverTheSameEverywhereWhenRowsAreShared) { run(Wires::shared); }

INSTANTIATE_TEST_SUITE_P(Groups, RandomSchedules, ::testing::ValuesIn(cases()),
                         [](const auto& case_info) { return case_info.param.name; });

}  // namespace
}  // namespace tutti::testing
