// The rule `primary`: what the protocol relies on, for all sizes of a small view.
#include "membership/quorum.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

namespace tutti::testing {
namespace {

constexpr std::uint32_t kMembersMax = 8;

View view_of(std::uint32_t members) {
  View view;
  for (std::uint32_t slot = 0; slot < members; ++slot)
    view.members.push_back({Slot{slot}, 100 + slot});
  return view;
}

IndexedBy<Rank, bool> ranks(std::uint32_t members, std::uint32_t bits) {
  IndexedBy<Rank, bool> out(members);
  for (const Rank rank : out.indices()) out[rank] = (bits >> rank.value & 1) != 0;
  return out;
}

TEST(PrimaryQuorum, HalfOfAViewMayNotGoOn) {
  EXPECT_TRUE(kPrimaryQuorum.may_go_on(1, 1));
  EXPECT_FALSE(kPrimaryQuorum.may_go_on(1, 2));
  EXPECT_TRUE(kPrimaryQuorum.may_go_on(2, 3));
  EXPECT_FALSE(kPrimaryQuorum.may_go_on(2, 4));
  EXPECT_TRUE(kPrimaryQuorum.may_go_on(3, 4));
}

TEST(PrimaryQuorum, ThoseThatDecideMeetAllThatMayGoOn) {
  for (std::uint32_t n = 1; n <= kMembersMax; ++n) {
    const View view = view_of(n);
    for (std::uint32_t accepted = 0; accepted < 1U << n; ++accepted) {
      if (!kPrimaryQuorum.is_decided(ranks(n, accepted), view, view)) continue;
      for (std::uint32_t trusted = 0; trusted < 1U << n; ++trusted) {
        const auto many = static_cast<std::size_t>(std::popcount(trusted));
        if (!kPrimaryQuorum.may_go_on(many, n)) continue;
        EXPECT_NE(accepted & trusted, 0U) << n;
      }
    }
  }
}

TEST(PrimaryQuorum, ALeaderThatMayGoOnCanDecide) {
  for (std::uint32_t n = 1; n <= kMembersMax; ++n) {
    for (std::uint32_t trusted = 0; trusted < 1U << n; ++trusted) {
      const auto many = static_cast<std::size_t>(std::popcount(trusted));
      EXPECT_EQ(kPrimaryQuorum.is_decided(ranks(n, trusted), view_of(n), view_of(n)),
                kPrimaryQuorum.may_go_on(many, n));
    }
  }
}

TEST(PrimaryQuorum, LeaversStayIfTheOthersNeedThemToGoOn) {
  EXPECT_EQ(kPrimaryQuorum.may_leave(2, 3, 3), 2U);  // the last one is a view of its own
  EXPECT_EQ(kPrimaryQuorum.may_leave(2, 2, 3), 0U);  // one of a view of three is suspected
  EXPECT_EQ(kPrimaryQuorum.may_leave(3, 4, 5), 2U);
  for (std::size_t members = 1; members <= kMembersMax; ++members) {
    for (std::size_t trusted = members / 2 + 1; trusted <= members; ++trusted) {
      for (std::size_t leavers = 0; leavers < trusted; ++leavers) {
        const std::size_t may = kPrimaryQuorum.may_leave(leavers, trusted, members);
        EXPECT_LE(may, leavers);
        EXPECT_TRUE(kPrimaryQuorum.may_go_on(trusted - may, members - may));
      }
    }
  }
}

TEST(PrimaryQuorum, AGroupIsCreatedByAllNodesOrByEnoughFounders) {
  EXPECT_FALSE(kPrimaryQuorum.may_create(4, 5, 0));
  EXPECT_TRUE(kPrimaryQuorum.may_create(5, 5, 0));
  EXPECT_FALSE(kPrimaryQuorum.may_create(2, 5, 3));
  EXPECT_TRUE(kPrimaryQuorum.may_create(3, 5, 3));
  for (std::uint32_t nodes = 1; nodes <= kMembersMax; ++nodes) {
    const std::uint32_t founders = PrimaryQuorum::founders_min(nodes);
    EXPECT_GT(2 * founders, nodes);
    EXPECT_LE(founders, nodes);
  }
}

}  // namespace
}  // namespace tutti::testing
