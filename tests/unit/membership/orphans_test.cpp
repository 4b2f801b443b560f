// Members that joined together, and lost all that were there before just as their view began.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sst/row_layout.hpp"
#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;

class Orphans : public ::testing::Test {
 protected:
  // Node 0, the only one left of three, has let 3 and 4 in, which have yet to hear of it.
  Orphans() {
    for (const std::uint32_t slot : {1U, 2U}) cluster_.nodes[slot].membership->leave();
    cluster_.run({0, 1, 2});
    for (const auto& [one, other] : {std::pair(0U, 3U), std::pair(0U, 4U), std::pair(3U, 4U)}) {
      cluster_.nodes[one].membership->ready(Slot{other}, 100 + other);
      cluster_.nodes[other].membership->ready(Slot{one}, 100 + one);
    }
    cluster_.run({0});
  }

  // The number of the view's first message, as node 0 says it.
  std::byte* number() {
    const std::uint64_t view = cluster_.nodes[0].views.back().id;
    const GroupOffsets offsets = cluster_.plan.rows.layouts[Slot{0}].offsets_of("g");
    return cluster_.rows[0].data() + offsets.control[view % 2] + ControlWords::kFirstSeq;
  }
  // They know of the view, but of the number only if they have read it already.
  void enter_without_number() {
    NativeMemory::store(number(), 0);
    cluster_.run({3, 4}, 1);
  }
  void lose_the_first() {
    for (const std::uint32_t slot : {3U, 4U}) cluster_.nodes[slot].membership->lost(Slot{0});
    cluster_.run({3, 4});
  }

  ForgedCluster cluster_{5, 2, {}, true};
};

TEST_F(Orphans, StopWhereNobodyKnowsTheNumberOfTheFirstMessage) {
  ASSERT_THAT(slots_of(cluster_.nodes[0].views.back()), ElementsAre(0, 3, 4));
  enter_without_number();
  lose_the_first();
  for (const std::uint32_t slot : {3U, 4U}) {
    EXPECT_EQ(cluster_.nodes[slot].why_stopped, std::nullopt) << "it may hear the number yet";
    cluster_.nodes[slot].now_ns += MembershipOptions{}.suspect_after_ns;
  }
  cluster_.run({3, 4});
  for (const std::uint32_t slot : {3U, 4U}) {
    EXPECT_EQ(cluster_.nodes[slot].why_stopped, StopReason::orphaned) << slot;
  }
}

// Node 4 has not heard of the view when the first is lost, and finds it in node 3's row.
TEST_F(Orphans, HearOfTheirViewFromEachOther) {
  cluster_.run({3}, 3);
  ASSERT_EQ(cluster_.nodes[3].views.size(), 1U);
  ASSERT_TRUE(cluster_.nodes[4].views.empty());
  cluster_.nodes[4].membership->lost(Slot{0});
  cluster_.nodes[3].membership->lost(Slot{0});
  cluster_.run({3, 4});
  for (const std::uint32_t slot : {3U, 4U}) {
    EXPECT_THAT(slots_of(cluster_.nodes[slot].views.front()), ElementsAre(0, 3, 4));
    EXPECT_THAT(slots_of(cluster_.nodes[slot].views.back()), ElementsAre(3, 4));
    EXPECT_EQ(cluster_.nodes[slot].why_stopped, std::nullopt);
  }
}

TEST_F(Orphans, GoOnIfOneOfThemHasHeardIt) {
  cluster_.run({4}, 3);
  enter_without_number();
  lose_the_first();
  for (const std::uint32_t slot : {3U, 4U}) {
    EXPECT_THAT(slots_of(cluster_.nodes[slot].views.back()), ElementsAre(3, 4));
    EXPECT_EQ(cluster_.nodes[slot].why_stopped, std::nullopt);
  }
}

// It lands while they wait for it, with the end of the view decided.
TEST_F(Orphans, AreDeliveredWhatTheySentIfTheyHearItLate) {
  const std::uint64_t said = NativeMemory::load(number());
  enter_without_number();
  EXPECT_TRUE(cluster_.nodes[3].send("of one that joined"));
  cluster_.run({3, 4}, 3);
  lose_the_first();
  ASSERT_THAT(slots_of(cluster_.nodes[3].views.back()), ElementsAre(0, 3, 4));
  NativeMemory::store(number(), said);
  cluster_.run({3, 4});
  for (const std::uint32_t slot : {3U, 4U}) {
    EXPECT_THAT(slots_of(cluster_.nodes[slot].views.back()), ElementsAre(3, 4));
    EXPECT_THAT(cluster_.nodes[slot].delivered, ElementsAre("of one that joined"));
  }
}

}  // namespace
}  // namespace tutti::testing
