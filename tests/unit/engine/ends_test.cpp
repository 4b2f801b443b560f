// P1, P2: members that end, and connections that end with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "support/forged_node.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;

// The first `founders` found a group and are connected; the others come later. Of a small group,
// two are a majority of three.
class EndsTest : public ::testing::Test {
 protected:
  void make(std::uint32_t count, std::uint32_t founders, std::vector<std::string> senders = {},
            std::uint64_t look_every_ns = 0) {
    GroupOptions group = forged_group();
    group.senders = std::move(senders);
    plan_ = sim::make_plan(count, {group});
    plan_->founders = founders;
    plan_->look_every_ns = look_every_ns;
    for (std::uint32_t slot = 0; slot < count; ++slot) rows_.emplace_back(plan_->rows.row_bytes());
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      nodes_.emplace_back(*plan_, slot, rows_, NativeMemory{});
    }
    for (std::uint32_t slot = 0; slot < founders; ++slot) {
      all_.push_back(slot);
      for (std::uint32_t other = 0; other < slot; ++other) connect(slot, other);
    }
    run(all_, 10);
    ASSERT_EQ(nodes_[0].views.size(), 1U);
  }

  void connect(std::uint32_t one, std::uint32_t other, std::uint64_t incarnation = 0) {
    nodes_[one].engine->connected(Slot{other}, incarnation == 0 ? 100 + other : incarnation);
    nodes_[other].engine->connected(Slot{one}, 100 + one);
  }
  void run(const std::vector<std::uint32_t>& who, int passes = 20) {
    for (int i = 0; i < passes; ++i) {
      for (const std::uint32_t slot : who) {
        nodes_[slot].now_ns += plan_->look_every_ns;
        nodes_[slot].pass();
      }
    }
  }
  void finish(const std::vector<std::uint32_t>& who) {
    for (const std::uint32_t slot : who) nodes_[slot].finish();
  }

  std::optional<sim::Plan> plan_;
  std::vector<AlignedRow> rows_;
  std::deque<ForgedNode> nodes_;
  std::vector<std::uint32_t> all_;  // founders
};

TEST_F(EndsTest, AMemberThatEndsDoesNotWaitForOneThatJoins) {
  make(4, 3);
  finish(all_);
  run(all_);
  ASSERT_TRUE(nodes_[1].engine->complete());
  nodes_[1].engine->end(Ending::stops);
  for (const std::uint32_t slot : all_) connect(3, slot);
  run({0, 1, 2, 3}, 40);
  EXPECT_TRUE(nodes_[1].asked_to_leave);
  EXPECT_EQ(nodes_[1].why_stopped, StopReason::left);
  EXPECT_FALSE(nodes_[0].asked_to_leave) << "it waits for nothing";
  EXPECT_THAT(slots_of(nodes_[0].views.back()), ElementsAre(0, 2, 3));
  EXPECT_FALSE(nodes_[0].engine->complete()) << "the one that joined may send";
}

// Between two looks of a thread that waits for the end, all may be complete and a view begin to
// which a node was added.
TEST_F(EndsTest, P2AMemberThatEndsKeepsInMindThatAllWasComplete) {
  make(4, 3);
  nodes_[1].engine->end(Ending::stops);
  finish({0, 2});
  for (int i = 0; i < 20 && !nodes_[1].engine->complete(); ++i) run(all_, 1);
  for (const std::uint32_t slot : all_) connect(3, slot);
  run({0, 1, 2, 3}, 40);
  EXPECT_THAT(slots_of(nodes_[1].views[1]), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(nodes_[1].engine->was_complete());
  EXPECT_TRUE(nodes_[1].asked_to_leave);
  EXPECT_EQ(nodes_[1].why_stopped, StopReason::left);
  EXPECT_FALSE(nodes_[0].engine->complete()) << "the one that joined may send";
}

// The thread that ends the member looks before the predicate thread hears that it ends.
TEST_F(EndsTest, P2ALookFromOutsideIsKeptAsWell) {
  make(4, 3);
  finish(all_);
  run(all_);
  ASSERT_TRUE(nodes_[1].engine->was_complete());
  for (const std::uint32_t slot : all_) connect(3, slot);
  run({0, 1, 2, 3});
  ASSERT_EQ(nodes_[1].views.back().id, 2U);
  ASSERT_FALSE(nodes_[1].engine->complete());
  EXPECT_FALSE(nodes_[1].asked_to_leave) << "it does not end";
  nodes_[0].engine->end(Ending::stops);
  nodes_[1].engine->end(Ending::stops);
  EXPECT_FALSE(nodes_[0].asked_to_leave) << "nobody looked there";
  EXPECT_TRUE(nodes_[1].asked_to_leave);
}

// The view after it has no new members, but one that may send and was not there then.
TEST_F(EndsTest, P2ALookFromOutsideIsKeptOverSeveralViews) {
  make(5, 4);
  finish(all_);
  run(all_);
  ASSERT_TRUE(nodes_[1].engine->was_complete());
  for (const std::uint32_t slot : all_) connect(4, slot);
  run({0, 1, 2, 3, 4});
  nodes_[0].membership->expel(Slot{2});
  run({0, 1, 3, 4});
  ASSERT_THAT(slots_of(nodes_[1].views.back()), ElementsAre(0, 1, 3, 4));
  ASSERT_EQ(nodes_[1].views.back().id, 3U);
  ASSERT_FALSE(nodes_[1].engine->complete());
  nodes_[1].engine->end(Ending::stops);
  EXPECT_TRUE(nodes_[1].asked_to_leave);
}

TEST_F(EndsTest, AMemberThatLeavesAsksOnceAllItSentIsDelivered) {
  make(3, 3);
  ASSERT_TRUE(nodes_[1].send("the last"));
  nodes_[1].engine->end(Ending::leaves);
  EXPECT_FALSE(nodes_[1].send("too late"));
  nodes_[1].pass();
  EXPECT_FALSE(nodes_[1].asked_to_leave);
  run(all_);
  EXPECT_TRUE(nodes_[1].asked_to_leave);
  EXPECT_EQ(nodes_[1].why_stopped, StopReason::left);
  EXPECT_TRUE(nodes_[1].engine->has_ended());
  EXPECT_THAT(nodes_[0].delivered, ElementsAre("the last"));
}

TEST_F(EndsTest, P2AMemberHasEndedOnceAPassFoundNothingToDo) {
  make(3, 3);
  finish({0, 2});
  nodes_[1].engine->end(Ending::stops);
  EXPECT_FALSE(nodes_[1].engine->has_ended());
  for (int i = 0; i < 20 && !nodes_[1].engine->complete(); ++i) run(all_, 1);
  ASSERT_TRUE(nodes_[1].engine->may_end());
  EXPECT_FALSE(nodes_[1].engine->has_ended()) << "its last pass did something";
  run(all_);
  EXPECT_TRUE(nodes_[1].engine->has_ended());
  EXPECT_FALSE(nodes_[0].engine->has_ended()) << "its application has not ended it";
}

// In the next view the same members say again that they have finished.
TEST_F(EndsTest, AMemberThatEndsStaysIfAViewBeginsWithoutNewOnes) {
  make(3, 3);
  finish(all_);
  run(all_);
  nodes_[1].engine->end(Ending::stops);
  nodes_[0].membership->expel(Slot{2});
  run({0, 1});
  ASSERT_EQ(nodes_[1].views.back().id, 2U);
  EXPECT_FALSE(nodes_[1].asked_to_leave);
  EXPECT_TRUE(nodes_[1].engine->complete());
}

TEST_F(EndsTest, WithoutASenderOnlyAMemberThatEndsHasLostNothing) {
  make(3, 3, {"n2"});
  finish({2});
  nodes_[2].membership->leave();
  run(all_);
  ASSERT_EQ(nodes_[2].why_stopped, StopReason::left);
  run({0, 1});
  ASSERT_TRUE(nodes_[0].engine->complete());
  EXPECT_FALSE(nodes_[0].engine->is_through()) << "a node that joins may send";
  nodes_[0].engine->end(Ending::stops);
  EXPECT_TRUE(nodes_[0].engine->is_through());
}

// A peer that says something after this member has armed its fabric rings its doorbell. What a peer
// said just before that rings nobody, so the last pass must read it.
TEST_F(EndsTest, TheLastPassBeforeASleepLooksAtAllThatOthersSay) {
  make(3, 3, {}, 20'000);
  run(all_, 1);
  nodes_[1].membership->leave();
  run({1}, 1);
  nodes_[0].pass();
  EXPECT_FALSE(nodes_[0].membership->changing()) << "it has looked just before";
  nodes_[0].engine->look_at_once();
  nodes_[0].pass();
  EXPECT_TRUE(nodes_[0].membership->changing());
}

// The application of node 0 has yet to be delivered what node 2 sent before it left.
TEST_F(EndsTest, P1AMemberThatStopsKeepsTheRowOfALeaver) {
  make(3, 3);
  nodes_[0].stuck = true;
  ASSERT_TRUE(nodes_[2].send("last words"));
  run(all_, 5);
  ASSERT_THAT(nodes_[1].delivered, ElementsAre("last words"));
  nodes_[2].membership->leave();
  for (int i = 0; i < 40 && nodes_[0].views.size() < 2; ++i) run({2, 1, 0}, 1);
  ASSERT_THAT(slots_of(nodes_[0].views.back()), ElementsAre(0, 1));
  nodes_[0].engine->lost(Slot{1}, "the test says so");
  run({0}, 3);
  ASSERT_EQ(nodes_[0].why_stopped, StopReason::minority);
  nodes_[0].engine->lost(Slot{2}, "it has left");
  run({0}, 3);
  EXPECT_THAT(nodes_[0].let_go_slots, ::testing::Not(::testing::Contains(2)));
}

TEST_F(EndsTest, M6ANodeThatJoinsPartsFromThoseThatLeaveJustThen) {
  make(4, 3);
  nodes_[0].membership->leave();
  run({0}, 1);
  for (const std::uint32_t slot : all_) connect(3, slot);
  run({0, 1, 2, 3}, 40);
  ASSERT_EQ(nodes_[0].why_stopped, StopReason::left);
  ASSERT_THAT(slots_of(nodes_[3].views.front()), ElementsAre(1, 2, 3));
  EXPECT_TRUE(nodes_[3].membership->was_removed(100)) << "it must not come again";
  EXPECT_THAT(nodes_[3].gone, ElementsAre()) << "it may not have heard yet that it may leave";
  EXPECT_THAT(nodes_[3].let_go_slots, ElementsAre(0));
  EXPECT_EQ(nodes_[3].engine->connected_to(Slot{0}), 0U);
}

// J8: node 2 has left, and has yet to deliver what node 0 sent. Another view, in which nobody goes,
// begins before its time is over.
TEST_F(EndsTest, J8SpaceIsHeldForALeaverOverSeveralViews) {
  make(4, 3);
  nodes_[2].stuck = true;
  ASSERT_TRUE(nodes_[0].send("for the leaver"));
  run(all_, 5);
  nodes_[2].membership->leave();
  run(all_);
  ASSERT_THAT(slots_of(nodes_[0].views.back()), ElementsAre(0, 1));
  for (const std::uint32_t slot : {0U, 1U}) connect(3, slot);
  run({0, 1, 3, 2}, 40);
  ASSERT_THAT(slots_of(nodes_[0].views.back()), ElementsAre(0, 1, 3));
  ASSERT_TRUE(nodes_[0].send("another one"));
  run({0, 1, 3}, 40);
  ASSERT_THAT(nodes_[3].delivered, ElementsAre("another one"));
  EXPECT_EQ(nodes_[0].group->ring()->released(), 0U);
  nodes_[2].stuck = false;
  run({2}, 10);
  EXPECT_THAT(nodes_[2].delivered, ElementsAre("for the leaver"));
  EXPECT_EQ(nodes_[2].why_stopped, StopReason::left);
  nodes_[0].engine->lost(Slot{2}, "it has left");
  nodes_[1].engine->lost(Slot{2}, "it has left");
  run({0, 1, 3}, 40);
  EXPECT_GT(nodes_[0].group->ring()->released(), 0U);
}

// The application of node 0 has yet to be delivered what node 2 sent before it was lost, so that
// row stays. But nothing is sent there any more, or records would go while they wait for it.
TEST_F(EndsTest, P1WhoIsRemovedIsHungUpOnBeforeItsRowIsLetGo) {
  make(3, 3);
  nodes_[0].stuck = true;
  ASSERT_TRUE(nodes_[2].send("last words"));
  run(all_, 5);
  nodes_[0].engine->lost(Slot{2}, "the test says so");
  nodes_[1].engine->lost(Slot{2}, "the test says so");
  run({0, 1});
  ASSERT_THAT(slots_of(nodes_[0].views.back()), ElementsAre(0, 1));
  EXPECT_THAT(nodes_[0].fabric.hung_up, ElementsAre(Slot{2}));
  EXPECT_THAT(nodes_[0].let_go_slots, ElementsAre());
  nodes_[0].stuck = false;
  run({0, 1});
  EXPECT_THAT(nodes_[0].delivered, ElementsAre("last words"));
  EXPECT_THAT(nodes_[0].let_go_slots, ElementsAre(2));
  EXPECT_EQ(nodes_[0].fabric.hung_up.size(), 1U);
}

// A node that is to join is started again just then. One member has met its second incarnation when
// the view begins that the first is in. With the removal of the first, that connection ends, and so
// must the word that says that it stands: the node would be admitted without being there.
TEST_F(EndsTest, P1AConnectionThatEndsWithARemovedMemberIsNotSaidToStand) {
  make(4, 3);
  for (const std::uint32_t slot : all_) connect(3, slot);
  const std::size_t accepted = plan_->rows.words.block(1) + ViewWords::kAccepted.offset;
  const auto word = [this](std::size_t offset) {
    return NativeMemory::load(rows_[1].data() + offset);
  };
  for (int i = 0; i < 50 && word(accepted) == 0; ++i) run({0, 1, 2, 3}, 1);
  ASSERT_EQ(nodes_[1].views.back().id, 1U);
  nodes_[1].engine->lost(Slot{3}, "it is started again");
  nodes_[1].engine->connected(Slot{3}, 203);
  ASSERT_EQ(word(ViewWords::ready(Slot{3}).offset), 203U);
  run(all_);
  ASSERT_EQ(nodes_[1].views.size(), 3U) << "one with the first incarnation, one without";
  EXPECT_THAT(slots_of(nodes_[1].views.back()), ElementsAre(0, 1, 2));
  EXPECT_THAT(nodes_[1].let_go_slots, ElementsAre(3, 3));
  EXPECT_EQ(nodes_[1].engine->connected_to(Slot{3}), 0U);
  EXPECT_EQ(word(ViewWords::ready(Slot{3}).offset), 0U);
}

}  // namespace
}  // namespace tutti::testing
