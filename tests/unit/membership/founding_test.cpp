// J7: of one start comes at most one group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes that are not connected yet; those of `joining` found no group.
class Start {
 public:
  Start(std::uint32_t count, std::uint32_t founders, const std::vector<std::uint32_t>& joining = {})
      : plan_(sim::make_plan(count, {forged_group()})) {
    plan_.founders = founders;
    for (std::uint32_t slot = 0; slot < count; ++slot) rows_.emplace_back(plan_.rows.row_bytes());
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      const bool may_create = std::ranges::find(joining, slot) == joining.end();
      nodes_.emplace_back(plan_, slot, rows_, NativeMemory{}, may_create);
    }
  }

  /// A start after a restart: these nodes found this view, and the others join.
  explicit Start(std::uint32_t count, const RestartView& restarts)
      : plan_(sim::make_plan(count, {forged_group()})) {
    plan_.restarts = restarts;
    for (std::uint32_t slot = 0; slot < count; ++slot) rows_.emplace_back(plan_.rows.row_bytes());
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      nodes_.emplace_back(plan_, slot, rows_, NativeMemory{}, restarts.has(Slot{slot}));
    }
  }

  void connect(const std::vector<std::uint32_t>& slots) {
    for (const std::uint32_t one : slots) {
      for (const std::uint32_t other : slots) {
        if (one != other) nodes_[one].membership->ready(Slot{other}, 100 + other);
      }
    }
  }
  void run(const std::vector<std::uint32_t>& slots, int passes) {
    for (int i = 0; i < passes; ++i) {
      for (const std::uint32_t slot : slots) nodes_[slot].pass();
    }
  }
  ForgedNode& node(std::uint32_t slot) { return nodes_[slot]; }
  [[nodiscard]] std::vector<std::uint32_t> members(std::uint32_t slot) const {
    return slots_of(nodes_[slot].membership->view());
  }

 private:
  sim::Plan plan_;
  std::vector<AlignedRow> rows_;
  std::deque<ForgedNode> nodes_;
};

TEST(Founding, DoesNotWaitForNodesThatOnlyJoin) {
  Start start(5, 3, {0, 3});
  start.connect({0, 1, 2, 3, 4});
  start.run({0, 1, 2, 3, 4}, 30);
  for (const std::uint32_t slot : {0U, 1U, 2U, 3U, 4U}) {
    ASSERT_FALSE(start.node(slot).views.empty()) << slot;
    EXPECT_THAT(start.members(slot), ElementsAre(1, 2, 4, 0, 3)) << slot;
  }
}

TEST(Founding, DoesNotCountNodesThatOnlyJoin) {
  Start start(5, 3, {0, 3});
  start.connect({0, 1, 2, 3});
  start.run({0, 1, 2, 3}, 30);
  for (const std::uint32_t slot : {0U, 1U, 2U, 3U}) {
    EXPECT_THAT(start.node(slot).views, IsEmpty()) << slot;
    EXPECT_FALSE(start.node(slot).why_stopped.has_value()) << slot << " waits for another founder";
  }
}

TEST(Founding, ANodeThatHasAcceptedMayHaveFoundedAGroup) {
  Start start(5, 3);
  start.connect({0, 1, 3});
  start.run({0, 1, 3}, 1);  // all have wedged
  for (const std::uint32_t slot : {0U, 1U, 3U}) {
    EXPECT_FALSE(start.node(slot).membership->may_have_created()) << slot << " accepted nothing";
  }
  while (!start.node(0).membership->may_have_created()) start.run({0, 1, 3}, 1);
  start.node(3).pass();
  ForgedNode& parted = start.node(3);
  EXPECT_TRUE(parted.membership->may_have_created());
  for (const std::uint32_t lost : {0U, 1U}) parted.membership->lost(Slot{lost});
  EXPECT_EQ(parted.why_stopped, StopReason::minority);
  EXPECT_TRUE(parted.membership->may_have_created()) << "although it is in no view";
}

// It comes after an incarnation that the others agreed with, and finds what they agreed to.
TEST(Founding, ANodeAcceptsNothingThatItIsNotIn) {
  Start start(5, 3);
  start.connect({0, 1, 2});
  while (!start.node(0).membership->may_have_created()) start.run({0, 1, 2}, 1);
  start.node(4).membership->ready(Slot{0}, 100);
  start.node(4).membership->ready(Slot{1}, 101);
  start.node(4).membership->ready(Slot{2}, 102);
  start.run({4}, 5);
  EXPECT_FALSE(start.node(4).membership->may_have_created());
}

// Two of five are no majority of the nodes, but all of the view that was agreed on.
TEST(Founding, TheMembersOfARestartFoundItsViewInItsOrder) {
  Start start(5, {.id = 7, .members = {Slot{3}, Slot{1}}, .firsts = {40}});
  start.connect({0, 1, 2, 3, 4});
  start.run({0, 1, 2, 3, 4}, 30);
  for (const std::uint32_t slot : {1U, 3U}) {
    ASSERT_FALSE(start.node(slot).views.empty()) << slot;
    EXPECT_EQ(start.node(slot).views.front().id, 7) << slot;
    EXPECT_THAT(slots_of(start.node(slot).views.front()), ElementsAre(3, 1)) << slot;
    EXPECT_EQ(start.node(slot).group->shape().first_seq, 40) << slot;
  }
  for (const std::uint32_t slot : {0U, 2U, 4U}) {
    ASSERT_FALSE(start.node(slot).views.empty()) << slot;
    EXPECT_EQ(start.node(slot).views.front().id, 8) << slot << " joins";
  }
}

TEST(Founding, TheMembersOfARestartWaitForEachOther) {
  Start start(5, {.id = 7, .members = {Slot{0}, Slot{1}, Slot{2}}, .firsts = {40}});
  start.connect({0, 1, 3, 4});
  start.run({0, 1, 3, 4}, 30);
  for (const std::uint32_t slot : {0U, 1U, 3U, 4U}) {
    EXPECT_THAT(start.node(slot).views, IsEmpty()) << slot;
    EXPECT_FALSE(start.node(slot).why_stopped.has_value()) << slot;
  }
  start.connect({0, 1, 2, 3, 4});
  start.run({0, 1, 2, 3, 4}, 30);
  for (const std::uint32_t slot : {0U, 1U, 2U}) {
    ASSERT_FALSE(start.node(slot).views.empty()) << slot;
    EXPECT_EQ(start.node(slot).views.front().id, 7) << slot;
  }
}

}  // namespace
}  // namespace tutti::testing
