/// Members whose applications are behind the views that the protocol is in ([Z] in
/// docs/protocol.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

std::uint64_t reclaimed(ForgedCluster& cluster, std::uint32_t slot) {
  return NativeMemory::load(cluster.rows[slot].data() +
                            cluster.plan.rows.layouts[Slot{slot}].offsets_of("g").reclaimed);
}

// The application of the last one does not come back, over two changes of view.
TEST(Lag, WhoseApplicationIsStuckTakesPartInChangesOfView) {
  ForgedCluster cluster(5);
  ForgedNode& slow = cluster.nodes[4];
  slow.stuck = true;
  std::vector<std::uint32_t> here{0, 1, 2, 3, 4};
  std::vector<std::string> sent;
  for (const std::uint32_t lost : {0U, 1U}) {
    for (const std::uint32_t slot : here) {
      sent.push_back(std::to_string(slot) + " before " + std::to_string(lost) + " was lost");
      ASSERT_TRUE(cluster.nodes[slot].send(sent.back()));
    }
    cluster.run(here);
    std::erase(here, lost);
    cluster.nodes[2].membership->lost(Slot{lost});
    cluster.run(here);
    EXPECT_THAT(slots_of(slow.views.back()), ElementsAreArray(here));
    EXPECT_FALSE(slow.membership->changing());
  }
  EXPECT_THAT(cluster.nodes[3].delivered, ElementsAreArray(sent));
  EXPECT_THAT(slow.delivered, IsEmpty());
  EXPECT_FALSE(slow.group->delivered_before(2));
  slow.stuck = false;
  cluster.run(here);
  EXPECT_THAT(slow.delivered, ElementsAreArray(sent));
  EXPECT_TRUE(slow.group->delivered_before(3));
}

// I4: whoever is behind holds the space of all that it has not delivered, over changes of view.
TEST(Lag, SpaceOfEarlierViewsIsKeptForAMemberThatIsBehind) {
  ForgedCluster cluster(4);
  cluster.nodes[2].stuck = true;
  int sent = 0;
  const auto send_many = [&] {
    for (int i = 0; i < 100; ++i) {
      sent += cluster.nodes[1].send("number " + std::to_string(sent)) ? 1 : 0;
      cluster.run({1, 2, 3}, 1);
    }
  };
  for (int i = 0; i < 4; ++i) cluster.run({0, 1, 2, 3}, cluster.nodes[1].send("first") ? 3 : 0);
  sent += 4;
  cluster.nodes[1].membership->lost(Slot{0});
  cluster.run({1, 2, 3});
  ASSERT_EQ(cluster.nodes[2].views.back().id, 2U);
  send_many();
  EXPECT_EQ(sent, 16) << "the window";
  EXPECT_EQ(reclaimed(cluster, 1), 1U) << "the first view, before which there was none";
  EXPECT_EQ(cluster.nodes[3].delivered.size(), 16U) << "the others deliver on";
  cluster.nodes[2].stuck = false;
  cluster.run({1, 2, 3});
  send_many();
  cluster.run({1, 2, 3});
  EXPECT_EQ(sent, 116);
  EXPECT_EQ(reclaimed(cluster, 1), 2U);
  EXPECT_EQ(cluster.nodes[2].delivered, cluster.nodes[3].delivered);
}

// Y5: it was two views behind when it was removed, and what it had yet to read was used again.
TEST(Lag, WhoIsRemovedWhileItIsBehindDeliversNothingThatMayBeOverwritten) {
  ForgedCluster cluster(5);
  ForgedNode& slow = cluster.nodes[4];
  slow.stuck = true;
  ASSERT_TRUE(cluster.nodes[2].send("what it does not deliver in time"));
  cluster.run({0, 1, 2, 3, 4});
  cluster.nodes[2].membership->lost(Slot{0});
  cluster.run({1, 2, 3, 4});
  ASSERT_EQ(slow.views.back().id, 2U);
  cluster.nodes[2].membership->lost(Slot{4});
  for (int i = 0; i < 100; ++i) {
    cluster.nodes[2].send("more");
    cluster.run({1, 2, 3}, 1);
  }
  EXPECT_EQ(reclaimed(cluster, 2), 3U);
  slow.group->deliver();
  EXPECT_THAT(slow.delivered, IsEmpty());
  EXPECT_TRUE(slow.group->stale());
  cluster.run({4}, 3);
  EXPECT_EQ(slow.why_stopped, StopReason::evicted);
}

// J8: to leave is to have delivered what the others have.
TEST(Lag, WhoLeavesDeliversFirstWhatItIsBehindWith) {
  ForgedCluster cluster(4);
  ForgedNode& leaver = cluster.nodes[3];
  leaver.stuck = true;
  ASSERT_TRUE(cluster.nodes[1].send("a"));
  cluster.run({0, 1, 2, 3});
  cluster.nodes[1].membership->lost(Slot{0});
  cluster.run({1, 2, 3});
  ASSERT_EQ(leaver.views.back().id, 2U);
  leaver.membership->leave();
  cluster.run({1, 2, 3});
  EXPECT_THAT(slots_of(cluster.nodes[1].views.back()), ElementsAre(1, 2));
  EXPECT_EQ(leaver.why_stopped, std::nullopt);
  leaver.stuck = false;
  cluster.run({1, 2, 3});
  EXPECT_EQ(leaver.why_stopped, StopReason::left);
  EXPECT_THAT(leaver.delivered, ElementsAre("a"));
}

}  // namespace
}  // namespace tutti::testing
