// J8: members that want to leave while others need them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;

TEST(Leave, WaitsUntilNobodyNeedsTheMember) {
  ForgedCluster cluster(3);
  ForgedNode& leaver = cluster.nodes[0];
  leaver.needed_in = 1;
  leaver.membership->leave();
  cluster.run({0, 1, 2});
  EXPECT_EQ(leaver.why_stopped, std::nullopt);
  EXPECT_EQ(cluster.nodes[1].views.size(), 1U);
  leaver.needed_in = 0;
  cluster.run({0, 1, 2});
  EXPECT_EQ(leaver.why_stopped, StopReason::left);
  EXPECT_THAT(slots_of(cluster.nodes[1].views.back()), ElementsAre(1, 2));
}

// Both ask; one must stay for a view more, and in that one it is needed.
TEST(Leave, IsTakenBackByALeaderThatTheNextViewNeeds) {
  ForgedCluster cluster(2);
  ForgedNode& leaver = cluster.nodes[1];
  leaver.needed_in = 2;
  for (ForgedNode& node : cluster.nodes) node.membership->leave();
  cluster.run({0, 1});
  ASSERT_EQ(cluster.nodes[0].why_stopped, StopReason::left);
  ASSERT_THAT(slots_of(leaver.views.back()), ElementsAre(1));
  EXPECT_EQ(leaver.why_stopped, std::nullopt);
  leaver.needed_in = 0;
  cluster.run({1});
  EXPECT_EQ(leaver.why_stopped, StopReason::left);
}

// M6: its leader has wedged to let it go; were it to stay, nobody would go.
TEST(Leave, IsNotTakenBackOnceAnotherMayActOnIt) {
  ForgedCluster cluster(3);
  ForgedNode& leaver = cluster.nodes[2];
  leaver.membership->leave();
  cluster.run({2, 0}, 1);
  ASSERT_TRUE(cluster.nodes[0].membership->changing());
  leaver.needed_in = 1;
  cluster.run({0, 1, 2});
  EXPECT_EQ(leaver.why_stopped, StopReason::left);
  EXPECT_THAT(slots_of(cluster.nodes[0].views.back()), ElementsAre(0, 1));
}

// It stood still meanwhile. If it has asked, that it is gone is what it wanted.
TEST(Leave, IsOverForOneThatHadAskedAndComesTwoViewsLate) {
  for (const bool asked : {true, false}) {
    ForgedCluster cluster(5, 1);
    ForgedNode& leaver = cluster.nodes[3];
    if (!asked) leaver.needed_in = 1;
    leaver.membership->leave();
    cluster.run({3}, 1);
    leaver.needed_in = 1;
    cluster.nodes[0].membership->lost(3);
    cluster.run({0, 1, 2});
    for (const std::uint32_t slot : {0U, 1U, 2U}) {
      cluster.nodes[slot].membership->ready(4, 104);
      cluster.nodes[4].membership->ready(slot, 100 + slot);
    }
    cluster.run({0, 1, 2, 4});
    ASSERT_EQ(cluster.nodes[0].views.size(), 3U);
    cluster.run({3}, 3);
    EXPECT_EQ(leaver.why_stopped, asked ? StopReason::left : StopReason::evicted);
  }
}

}  // namespace
}  // namespace tutti::testing
