#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Membership, DeliversInTheFirstView) {
  ForgedCluster cluster(3);
  ASSERT_TRUE(cluster.nodes[0].send("one") && cluster.nodes[2].send("two"));
  cluster.run({0, 1, 2});
  for (const ForgedNode& node : cluster.nodes) {
    EXPECT_THAT(node.delivered, ElementsAre("one", "two"));
    EXPECT_EQ(node.views.size(), 1U);
  }
}

TEST(Membership, GoesOnWithoutAMemberThatIsLost) {
  ForgedCluster cluster(3);
  cluster.nodes[1].membership->lost(Slot{2});
  cluster.run({0, 1});
  for (const std::uint32_t slot : {0U, 1U}) {
    const ForgedNode& node = cluster.nodes[slot];
    ASSERT_EQ(node.views.size(), 2U);
    EXPECT_EQ(node.views[1].id, 2U);
    EXPECT_THAT(slots_of(node.views[1]), ElementsAre(0, 1));
    EXPECT_THAT(node.gone, ElementsAre(ViewMember{Slot{2}, 102}));
  }
}

TEST(Membership, GoesOnWithoutItsLeader) {
  ForgedCluster cluster(4);
  cluster.nodes[3].membership->lost(Slot{0});
  cluster.run({1, 2, 3});
  for (const std::uint32_t slot : {1U, 2U, 3U}) {
    EXPECT_THAT(slots_of(cluster.nodes[slot].views.back()), ElementsAre(1, 2, 3));
  }
}

// M7, J4: the leader has proposed, and some have accepted, when it dies.
TEST(Membership, ANewLeaderProposesAgainWhatWasAccepted) {
  ForgedCluster cluster(5);
  cluster.nodes[0].membership->lost(Slot{4});
  for (int i = 0; i < 2; ++i) cluster.run({0, 1, 2, 3}, 1);  // all have wedged
  cluster.nodes[0].pass();                                   // it proposes
  cluster.nodes[3].pass();                                   // one accepts
  for (const std::uint32_t slot : {1U, 2U, 3U}) cluster.nodes[slot].membership->lost(Slot{0});
  cluster.run({1, 2, 3});
  for (const std::uint32_t slot : {1U, 2U, 3U}) {
    const std::vector<View>& views = cluster.nodes[slot].views;
    ASSERT_EQ(views.size(), 3U);
    EXPECT_THAT(slots_of(views[1]), ElementsAre(0, 1, 2, 3)) << "the dead leader's proposal";
    EXPECT_THAT(slots_of(views[2]), ElementsAre(1, 2, 3)) << "then without it";
  }
}

std::atomic_ref<std::uint64_t> word_of(ForgedCluster& cluster, std::uint32_t slot,
                                       ViewWords::Word word) {
  const std::size_t block = cluster.plan.rows.words.block(1);
  return std::atomic_ref(
      *reinterpret_cast<std::uint64_t*>(cluster.rows[slot].data() + block + word));
}

// J5: two have accepted what the dead leader proposed; to its successor they have not said yes yet.
TEST(Membership, AcceptancesOfEarlierBallotsDoNotCount) {
  ForgedCluster cluster(5);
  cluster.nodes[0].membership->lost(Slot{4});
  for (int i = 0; i < 2; ++i) cluster.run({0, 1, 2, 3}, 1);
  cluster.nodes[0].pass();
  cluster.run({2, 3}, 1);
  for (const std::uint32_t slot : {1U, 2U, 3U}) cluster.nodes[slot].membership->lost(Slot{0});
  const auto ballot = [&](std::uint32_t slot) {
    return word_of(cluster, slot, ViewWords::kAccepted).load() / 2;
  };
  for (int i = 0; i < 20 && ballot(1) != 2; ++i) cluster.run({2, 3, 1}, 1);
  ASSERT_EQ(ballot(1), 2U) << "it has proposed";
  ASSERT_EQ(ballot(2), 1U);
  ASSERT_EQ(ballot(3), 1U);
  cluster.run({1}, 5);
  EXPECT_EQ(word_of(cluster, 1, ViewWords::kDecided).load(), 0U);
  cluster.run({1, 2, 3});
  EXPECT_EQ(cluster.nodes[1].views.size(), 3U);
}

// J8: it reads what the others keep for it, on shared memory in their own rows.
TEST(Membership, SpaceIsNotUsedAgainBeforeWhoLeavesIsGone) {
  ForgedCluster cluster(3);
  cluster.nodes[2].membership->leave();
  for (int i = 0; i < 20 && cluster.nodes[0].views.size() == 1; ++i) cluster.run({2, 1, 0}, 1);
  cluster.run({0, 1});
  ASSERT_EQ(cluster.nodes[0].views.size(), 2U);
  const auto send_many = [&cluster] {
    int sent = 0;
    for (int i = 0; i < 100; ++i) {
      if (cluster.nodes[0].send("on")) ++sent;
      cluster.run({0, 1}, 1);
    }
    return sent;
  };
  EXPECT_LE(send_many(), 16) << "its window";
  for (const std::uint32_t slot : {0U, 1U}) cluster.nodes[slot].membership->lost(Slot{2});
  cluster.run({0, 1});
  EXPECT_EQ(send_many(), 100);
}

// J4. Words of one post land in any order: it has settled without somebody, but for whom? Perhaps
// it suspects the leader itself, and did not wait for what it lacks of it.
TEST(Membership, ALeaderWaitsForTheNamesOfThoseWhomOthersSettledWithout) {
  ForgedCluster cluster(4);
  cluster.run({0, 1, 2, 3}, 5);
  cluster.nodes[0].membership->lost(Slot{1});
  cluster.run({0, 2}, 5);
  const auto word = [&](std::uint32_t slot, ViewWords::Word column) {
    return word_of(cluster, slot, column);
  };
  word(3, ViewWords::kWedged) = 1;
  word(3, ViewWords::kSettled) = 2;
  cluster.run({0, 2}, 5);
  ASSERT_EQ(word(2, ViewWords::kSettled).load(), 2U);
  EXPECT_EQ(word(0, ViewWords::kAccepted).load(), 0U) << "it has proposed";
  word(3, ViewWords::kSuspected[0]) = 1 << 1;
  cluster.run({0, 2}, 5);
  EXPECT_NE(word(0, ViewWords::kAccepted).load(), 0U);
}

// J6.
TEST(Membership, AMinorityStops) {
  ForgedCluster cluster(3);
  cluster.nodes[0].membership->lost(Slot{1});
  cluster.nodes[0].membership->lost(Slot{2});
  cluster.run({0});
  EXPECT_EQ(cluster.nodes[0].why_stopped, StopReason::minority);
  EXPECT_EQ(cluster.nodes[0].views.size(), 1U);
  EXPECT_FALSE(cluster.nodes[0].send("nobody hears this"));
}

// J9: each trusts one of the others, and no two trust each other.
TEST(Membership, ThoseThatSuspectEachOtherInACircleStop) {
  ForgedCluster cluster(3);
  cluster.nodes[0].membership->lost(Slot{2});
  cluster.nodes[1].membership->lost(Slot{0});
  cluster.nodes[2].membership->lost(Slot{1});
  auto run_until = [&, now = std::uint64_t{0}](std::uint64_t ms) mutable {
    for (; now <= ms; now += 10) {
      for (ForgedNode& node : cluster.nodes) node.now_ns = now * 1'000'000;
      cluster.run({0, 1, 2}, 1);
    }
  };
  run_until(490);
  for (const ForgedNode& node : cluster.nodes) EXPECT_FALSE(node.why_stopped);
  run_until(530);
  for (const ForgedNode& node : cluster.nodes) {
    EXPECT_EQ(node.why_stopped, StopReason::minority);
    EXPECT_EQ(node.views.size(), 1U);
  }
}

// J9. The first pass that sees it may have begun long before: it counts from the second one on, of
// which the first 62.5 ms of each gap count.
TEST(Membership, OneThatIsAloneWaitsFromTheNextPassOn) {
  ForgedCluster cluster(3);
  ForgedNode& node = cluster.nodes[0];
  cluster.nodes[1].membership->lost(Slot{0});
  cluster.run({1}, 1);
  node.membership->lost(Slot{2});
  const auto pass_at = [&](std::uint64_t ms) {
    for (const std::uint32_t slot : {0U, 1U}) cluster.nodes[slot].now_ns = ms * 1'000'000;
    cluster.run({1, 0}, 1);  // the other beats
    return node.why_stopped;
  };
  EXPECT_FALSE(pass_at(0));
  for (std::uint64_t ms = 500; ms < 1000; ms += 50) EXPECT_FALSE(pass_at(ms)) << ms;
  EXPECT_EQ(pass_at(1000), StopReason::minority);
}

TEST(Membership, WhoIsEvictedLearnsIt) {
  ForgedCluster cluster(3);
  cluster.nodes[0].membership->lost(Slot{2});
  cluster.run({0, 1});
  cluster.run({2}, 3);
  EXPECT_EQ(cluster.nodes[2].why_stopped, StopReason::evicted);
}

TEST(Membership, WhoIsEvictedLearnsItEvenLate) {
  ForgedCluster cluster(5);
  cluster.nodes[0].membership->lost(Slot{4});
  cluster.run({0, 1, 2, 3});
  cluster.nodes[0].membership->lost(Slot{3});
  cluster.run({0, 1, 2});
  cluster.run({4}, 3);
  EXPECT_EQ(cluster.nodes[4].why_stopped, StopReason::evicted);
}

TEST(Membership, AMemberLeavesInOrder) {
  ForgedCluster cluster(3);
  ASSERT_TRUE(cluster.nodes[0].send("before"));
  cluster.nodes[0].membership->leave();
  cluster.run({0, 1, 2});
  EXPECT_EQ(cluster.nodes[0].why_stopped, StopReason::left);
  EXPECT_THAT(slots_of(cluster.nodes[1].views.back()), ElementsAre(1, 2));
  EXPECT_EQ(cluster.nodes[1].delivered, cluster.nodes[0].delivered);
}

// J8: its application is busy while those who stay go on without it for two views.
TEST(Membership, ALeaverThatIsOvertakenHasLeft) {
  ForgedCluster cluster(5);
  cluster.nodes[4].stuck = true;
  ASSERT_TRUE(cluster.nodes[0].send("the last of what others sent"));
  cluster.run({0, 1, 2, 3, 4}, 5);
  cluster.nodes[4].membership->leave();
  for (int i = 0; i < 20 && !cluster.nodes[4].membership->has_decided(); ++i) {
    cluster.run({0, 1, 2, 3, 4}, 1);
  }
  ASSERT_TRUE(cluster.nodes[4].membership->has_decided());
  for (const std::uint32_t slot : {0U, 1U, 2U, 3U}) cluster.nodes[slot].membership->lost(Slot{4});
  cluster.run({0, 1, 2, 3});
  cluster.nodes[0].membership->lost(Slot{3});
  cluster.run({0, 1, 2});
  ASSERT_EQ(cluster.nodes[0].views.size(), 3U);
  EXPECT_EQ(cluster.nodes[4].why_stopped, std::nullopt);
  cluster.nodes[4].stuck = false;
  cluster.run({4}, 3);
  EXPECT_EQ(cluster.nodes[4].why_stopped, StopReason::left);
}

TEST(Membership, TheLastOneMayLeave) {
  ForgedCluster cluster(1);
  cluster.nodes[0].membership->leave();
  cluster.run({0}, 3);
  EXPECT_EQ(cluster.nodes[0].why_stopped, StopReason::left);
}

// Its application is behind: the others are gone, and what they sent is not delivered yet.
TEST(Membership, TheLastOneThatLeavesWaitsForItsApplicationInOneView) {
  ForgedCluster cluster(2);
  cluster.nodes[1].stuck = true;
  ASSERT_TRUE(cluster.nodes[0].send("not delivered yet"));
  cluster.run({0, 1}, 5);
  cluster.nodes[0].membership->leave();
  cluster.run({0, 1});
  ASSERT_EQ(cluster.nodes[0].why_stopped, StopReason::left);
  ASSERT_THAT(slots_of(cluster.nodes[1].views.back()), ElementsAre(1));
  const std::size_t views = cluster.nodes[1].views.size();
  cluster.nodes[1].membership->leave();
  cluster.run({1}, 50);
  EXPECT_EQ(cluster.nodes[1].views.size(), views);
  EXPECT_EQ(cluster.nodes[1].why_stopped, std::nullopt);
  cluster.nodes[1].stuck = false;
  cluster.run({1}, 50);
  EXPECT_EQ(cluster.nodes[1].why_stopped, StopReason::left);
  EXPECT_EQ(cluster.nodes[1].views.size(), views);
}

TEST(Membership, AJoinerComesInWhenAllAreConnectedToIt) {
  ForgedCluster cluster(3, 1);
  ASSERT_TRUE(cluster.nodes[0].send("before"));
  cluster.run({0, 1, 2});
  for (const std::uint32_t slot : {0U, 1U})
    cluster.nodes[2].membership->ready(Slot{slot}, 100 + slot);
  cluster.nodes[0].membership->ready(Slot{2}, 102);
  cluster.run({0, 1, 2});
  EXPECT_THAT(cluster.nodes[2].views, IsEmpty()) << "1 is not connected to it";
  cluster.nodes[1].membership->ready(Slot{2}, 102);
  cluster.run({0, 1, 2});
  ASSERT_EQ(cluster.nodes[2].views.size(), 1U);
  EXPECT_THAT(slots_of(cluster.nodes[2].views[0]), ElementsAre(0, 1, 2));
  EXPECT_EQ(cluster.nodes[2].views[0].survivors, 2U);
  ASSERT_TRUE(cluster.nodes[2].send("after"));
  cluster.run({0, 1, 2});
  EXPECT_THAT(cluster.nodes[0].delivered, ElementsAre("before", "after"));
  EXPECT_THAT(cluster.nodes[2].delivered, ElementsAre("after"));
}

// Two of four are lost to it, but three had agreed on the next view before.
TEST(Membership, ADecisionStandsThoughItsMajorityIsGone) {
  ForgedCluster cluster(4);
  for (const std::uint32_t slot : {0U, 1U, 2U}) cluster.nodes[slot].membership->lost(Slot{3});
  for (int i = 0; i < 20 && cluster.nodes[0].views.size() == 1; ++i) cluster.run({1, 2, 0}, 1);
  ASSERT_EQ(cluster.nodes[0].views.size(), 2U);
  ASSERT_EQ(cluster.nodes[1].views.size(), 1U) << "it has not heard of the decision";
  cluster.nodes[1].membership->lost(Slot{2});
  EXPECT_EQ(cluster.nodes[1].why_stopped, std::nullopt);
  cluster.run({0, 1});
  EXPECT_THAT(slots_of(cluster.nodes[1].views.back()), ElementsAre(0, 1));
  EXPECT_EQ(cluster.nodes[1].views.back().id, 3U);
  EXPECT_EQ(cluster.nodes[0].views.back().id, 3U);
}

// One that came in before would suspect at once the member that it does not know.
TEST(Membership, AJoinerComesInWhenItIsConnectedToAll) {
  ForgedCluster cluster(3, 1);
  for (const std::uint32_t slot : {0U, 1U}) cluster.nodes[slot].membership->ready(Slot{2}, 102);
  cluster.nodes[2].membership->ready(Slot{0}, 100);
  cluster.run({0, 1, 2});
  EXPECT_THAT(cluster.nodes[2].views, IsEmpty()) << "it is not connected to 1";
  cluster.nodes[2].membership->ready(Slot{1}, 101);
  cluster.run({0, 1, 2});
  for (const ForgedNode& node : cluster.nodes) {
    EXPECT_THAT(slots_of(node.views.back()), ElementsAre(0, 1, 2));
    EXPECT_EQ(node.views.back().id, 2U);
  }
}

/// The fourth of four joins: it is in the view of the first, and the second does not know that yet.
void take_in_the_last(ForgedCluster& cluster) {
  for (const std::uint32_t slot : {0U, 1U, 2U}) {
    cluster.nodes[slot].membership->ready(Slot{3}, 103);
    cluster.nodes[3].membership->ready(Slot{slot}, 100 + slot);
  }
  cluster.run({3}, 1);
  for (int i = 0; i < 20 && cluster.nodes[0].views.size() == 1; ++i) cluster.run({1, 2, 0}, 1);
  ASSERT_THAT(slots_of(cluster.nodes[0].views.back()), ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(cluster.nodes[1].views.size(), 1U) << "it has heard of the decision";
}

// It is in the next view already, which who loses it does not know yet. No time passes here: only
// who lost it can tell that it is gone.
TEST(Membership, AJoinerLostBeforeItsViewIsKnownIsSuspectedInIt) {
  ForgedCluster cluster(4, 1);
  ASSERT_NO_FATAL_FAILURE(take_in_the_last(cluster));
  cluster.nodes[1].membership->lost(Slot{3});
  cluster.run({0, 1, 2});
  for (const std::uint32_t slot : {0U, 1U, 2U}) {
    EXPECT_THAT(slots_of(cluster.nodes[slot].views.back()), ElementsAre(0, 1, 2));
    EXPECT_EQ(cluster.nodes[slot].views.back().id, 3U);
  }
}

// It was started again, and is connected again, before its view came.
TEST(Membership, AJoinerThatCameAgainIsSuspectedAsTheOneThatItWas) {
  ForgedCluster cluster(4, 1);
  ASSERT_NO_FATAL_FAILURE(take_in_the_last(cluster));
  cluster.nodes[1].membership->lost(Slot{3});
  cluster.nodes[1].membership->ready(Slot{3}, 203);
  cluster.run({0, 1, 2});
  EXPECT_THAT(slots_of(cluster.nodes[1].views.back()), ElementsAre(0, 1, 2));
  for (const std::uint32_t slot : {0U, 2U}) cluster.nodes[slot].membership->ready(Slot{3}, 203);
  cluster.run({0, 1, 2});
  EXPECT_TRUE(cluster.nodes[1].views.back().contains({Slot{3}, 203}));
}

// What a view did not deliver is delivered in the next, once, in order.
TEST(Membership, MessagesOfSurvivorsAreSentAgain) {
  ForgedCluster cluster(3);
  cluster.run({0, 1, 2}, 3);
  ASSERT_TRUE(cluster.nodes[0].send("a") && cluster.nodes[0].send("b"));
  cluster.run({0}, 2);                         // sent; nobody has received it
  cluster.nodes[1].membership->lost(Slot{2});  // and now nobody will in this view
  cluster.run({1, 0}, 1);
  ASSERT_TRUE(cluster.nodes[0].send("c")) << "claims go on during the change";
  cluster.run({0, 1});
  for (const std::uint32_t slot : {0U, 1U}) {
    EXPECT_EQ(cluster.nodes[slot].views.size(), 2U);
    EXPECT_THAT(cluster.nodes[slot].delivered, ElementsAre("a", "b", "c"));
  }
  EXPECT_THAT(cluster.nodes[2].delivered, IsEmpty());
}

// J1.
TEST(Membership, SuspicionPassesOn) {
  ForgedCluster cluster(5);
  cluster.nodes[3].membership->lost(Slot{1});
  cluster.run({3, 0, 2, 4}, 1);
  EXPECT_TRUE(cluster.nodes[0].membership->changing());
  cluster.run({0, 2, 3, 4});
  EXPECT_THAT(slots_of(cluster.nodes[4].views.back()), ElementsAre(0, 2, 3, 4));
}

TEST(Membership, WhoIsSuspectedSuspectsNobodyForIt) {
  ForgedCluster cluster(5);
  cluster.nodes[4].membership->lost(Slot{2});
  cluster.run({4, 2, 3, 0, 1});
  EXPECT_EQ(cluster.nodes[2].why_stopped, StopReason::evicted);
  EXPECT_THAT(slots_of(cluster.nodes[0].views.back()), ElementsAre(0, 1, 3, 4));
}

}  // namespace
}  // namespace tutti::testing
