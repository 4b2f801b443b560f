// J8: members that want to leave while others need them: they give the state to one that joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;

// The member in that slot is connected to these, and they to it.
void connect(ForgedCluster& cluster, std::uint32_t slot, const std::vector<std::uint32_t>& others) {
  for (const std::uint32_t other : others) {
    cluster.nodes[other].membership->ready(Slot{slot}, 100 + slot);
    cluster.nodes[slot].membership->ready(Slot{other}, 100 + other);
  }
}

void let_save(ForgedCluster& cluster, bool saves) {
  for (ForgedNode& node : cluster.nodes) node.saves = saves;
}

TEST(Leave, WaitsUntilNobodyNeedsTheMember) {
  ForgedCluster cluster(4, 1);
  ForgedNode& leaver = cluster.nodes[0];
  let_save(cluster, false);
  connect(cluster, 3, {0, 1, 2});
  cluster.run({0, 1, 2, 3});
  ASSERT_EQ(leaver.views.back().id, 2U);
  leaver.membership->leave();
  cluster.run({0, 1, 2, 3});
  EXPECT_EQ(leaver.why_stopped, std::nullopt);
  EXPECT_EQ(cluster.nodes[1].views.back().id, 2U);
  let_save(cluster, true);
  cluster.run({0, 1, 2, 3});
  EXPECT_EQ(leaver.why_stopped, StopReason::left);
  EXPECT_THAT(slots_of(cluster.nodes[1].views.back()), ElementsAre(1, 2, 3));
}

// Both ask; one must stay for a view more, and there a member that joined needs it.
TEST(Leave, IsTakenBackByALeaderThatTheNextViewNeeds) {
  ForgedCluster cluster(3, 1);
  ForgedNode& leaver = cluster.nodes[1];
  let_save(cluster, false);
  for (const std::uint32_t slot : {0U, 1U}) cluster.nodes[slot].membership->leave();
  cluster.run({1}, 1);
  connect(cluster, 2, {0, 1});
  cluster.run({2, 1, 0});
  ASSERT_EQ(cluster.nodes[0].why_stopped, StopReason::left);
  ASSERT_THAT(slots_of(leaver.views.back()), ElementsAre(1, 2));
  cluster.run({1, 2});
  EXPECT_EQ(leaver.why_stopped, std::nullopt);
  cluster.nodes[2].membership->lost(Slot{0});
  let_save(cluster, true);
  cluster.run({1, 2});
  EXPECT_EQ(leaver.why_stopped, StopReason::left);
  EXPECT_THAT(slots_of(cluster.nodes[2].views.back()), ElementsAre(2));
}

// M6: it asked, had to stay for a majority, and in that view it gives the state. Another one leads
// and may have acted on what it asked for: were it to stay, nobody would go.
TEST(Leave, IsNotTakenBackOnceAnotherMayActOnIt) {
  ForgedCluster cluster(6, 1);
  ForgedNode& leaver = cluster.nodes[3];
  let_save(cluster, false);
  for (const std::uint32_t slot : {1U, 2U, 3U}) cluster.nodes[slot].membership->leave();
  cluster.run({1, 2, 3}, 1);
  connect(cluster, 5, {0, 1, 2, 3});
  cluster.nodes[0].membership->lost(Slot{4});
  cluster.run({0, 1, 2, 3, 5});
  EXPECT_THAT(slots_of(leaver.views.back()), ElementsAre(0, 3, 5));
  leaver.saves = true;
  cluster.run({3});
  EXPECT_EQ(leaver.why_stopped, StopReason::left);
  EXPECT_THAT(slots_of(cluster.nodes[0].views.back()), ElementsAre(0, 5));
}

// M6: one that joins in the view in which it leaves was connected to it, and may soon lead.
TEST(Leave, IsForGoodAlsoForOneThatJoinedJustThen) {
  ForgedCluster cluster(4, 1);
  cluster.nodes[0].membership->leave();
  cluster.run({0}, 1);
  connect(cluster, 3, {0, 1, 2});
  cluster.run({0, 1, 2, 3});
  ASSERT_EQ(cluster.nodes[0].why_stopped, StopReason::left);
  ASSERT_THAT(slots_of(cluster.nodes[3].views.back()), ElementsAre(1, 2, 3));
  for (const std::uint32_t slot : {1U, 2U}) cluster.nodes[slot].membership->leave();
  cluster.run({1, 2, 3});
  EXPECT_THAT(slots_of(cluster.nodes[3].views.back()), ElementsAre(3));
  EXPECT_EQ(cluster.nodes[3].why_stopped, std::nullopt);
}

// M6: it was chosen for a view and stood still, so it was removed before it had entered one. It is
// connected to one that joined in the change that removed it.
TEST(Leave, IsForGoodAlsoForOneThatNeverEntered) {
  ForgedCluster cluster(5, 2);
  connect(cluster, 3, {0, 1, 2, 4});
  cluster.run({0, 1, 2});
  ASSERT_THAT(slots_of(cluster.nodes[0].views.back()), ElementsAre(0, 1, 2, 3));
  for (const std::uint32_t slot : {0U, 1U, 2U}) cluster.nodes[slot].membership->lost(Slot{3});
  connect(cluster, 4, {0, 1, 2});
  cluster.run({0, 1, 2, 4});
  ASSERT_THAT(slots_of(cluster.nodes[4].views.back()), ElementsAre(0, 1, 2, 4));
  for (const std::uint32_t slot : {0U, 1U, 2U}) cluster.nodes[slot].membership->leave();
  cluster.run({0, 1, 2, 4});
  EXPECT_THAT(slots_of(cluster.nodes[4].views.back()), ElementsAre(4));
}

// J8: the leader that leaves dies once its proposal was accepted, so those that stay go on with it.
TEST(Leave, IsNotAwaitedOfOneThatWasLost) {
  ForgedCluster cluster(3);
  cluster.nodes[0].membership->leave();
  const std::byte* accepted =
      cluster.rows[1].data() + cluster.plan.rows.words.block(1) + ViewWords::kAccepted;
  for (int i = 0; i < 20 && NativeMemory::load(accepted) == 0; ++i) cluster.run({0, 1, 2}, 1);
  for (const std::uint32_t slot : {1U, 2U}) cluster.nodes[slot].membership->lost(Slot{0});
  cluster.run({1, 2});
  for (const std::uint32_t slot : {1U, 2U}) {
    ForgedNode& node = cluster.nodes[slot];
    ASSERT_THAT(slots_of(node.views.back()), ElementsAre(1, 2));
    EXPECT_EQ(node.membership->leavers(), 0U);
    EXPECT_THAT(node.gone, ElementsAre(ViewMember{Slot{0}, 100}));
  }
}

// It stood still while the others went on without it, for two views.
void go_two_views_on(ForgedCluster& cluster, std::uint32_t without) {
  std::vector<std::uint32_t> here;
  for (const ViewMember& member : cluster.nodes[0].views.back().members) {
    if (member.slot.value != without) here.push_back(member.slot.value);
  }
  cluster.nodes[0].membership->lost(Slot{without});
  cluster.run(here);
  connect(cluster, 5, here);
  here.push_back(5);
  cluster.run(here);
}

TEST(Leave, IsOverForOneThatHadAskedAndComesTwoViewsLate) {
  ForgedCluster cluster(6, 2);
  ForgedNode& leaver = cluster.nodes[1];
  leaver.membership->leave();
  cluster.run({1}, 1);
  go_two_views_on(cluster, 1);
  ASSERT_EQ(cluster.nodes[0].views.back().id, 3U);
  cluster.run({1}, 3);
  EXPECT_EQ(leaver.why_stopped, StopReason::left) << "what it wanted";
}

TEST(Leave, IsNotOverForOneThatWasNeededAndComesTwoViewsLate) {
  ForgedCluster cluster(6, 2);
  ForgedNode& leaver = cluster.nodes[1];
  let_save(cluster, false);
  connect(cluster, 4, {0, 1, 2, 3});
  cluster.run({0, 1, 2, 3, 4});
  ASSERT_EQ(leaver.views.back().id, 2U);
  leaver.membership->leave();
  cluster.run({1}, 1);
  go_two_views_on(cluster, 1);
  ASSERT_EQ(cluster.nodes[0].views.back().id, 4U);
  cluster.run({1}, 3);
  EXPECT_EQ(leaver.why_stopped, StopReason::evicted);
}

}  // namespace
}  // namespace tutti::testing
