/// A member of a ring that lies about the token is named, whether it sends messages or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "multicast/subgroup.hpp"
#include "unit/predicates/mock_fabric.hpp"
#include "unit/ring/forged_ring.hpp"

namespace tutti::testing {
namespace {

TEST(Liar, IsNamedThoughItIsNoSender) {
  ForgedOptions options = ForgedRing::token_ring();
  options.sender_ranks = {2};
  ForgedRing ring(options);
  ::testing::NiceMock<MockFabric> fabric;
  Effects effects(fabric);
  Subgroup<NativeMemory> group(ring.table.shape(1), {.self = Slot{6}, .peers = {Slot{5}, Slot{7}}},
                               {});
  group.step(effects);
  EXPECT_FALSE(group.violation());
  ring.post(0, {.visit = 1, .seq = 0, .aru = 5});
  group.step(effects);
  ASSERT_TRUE(group.violation());
  EXPECT_EQ(group.violation()->rank, Rank{0});
  EXPECT_EQ(group.violation()->slot, Slot{5});
}

TEST(Liar, IsNamedForATokenThatItHasParkedAtNoVisitThatCanBe) {
  ForgedRing ring;
  ring.set(2, ring.words().parked(), 1ULL << 63);
  ring[1].step();
  ASSERT_TRUE(ring[1]->violation());
  EXPECT_EQ(ring[1]->violation()->rank, Rank{2});
}

// The header of a record is written when it is claimed; an application that writes past the end of
// the record before overwrites it.
TEST(Liar, IsThisMemberWhereItsApplicationHasWrittenOverItsRing) {
  ForgedRing ring;
  ::testing::NiceMock<MockFabric> fabric;
  Effects effects(fabric);
  Subgroup<NativeMemory> group(ring.table.shape(0), {.self = Slot{3}, .peers = {Slot{5}, Slot{7}}},
                               {});
  SendRing::Space space;
  ASSERT_EQ(group.ring()->claim(8, space), SendRing::Outcome::ok);
  store_cell(space.payload - kGranule, ~0ULL);
  group.ring()->commit(space);
  group.step(effects);
  group.step(effects);
  ASSERT_TRUE(group.violation());
  EXPECT_EQ(group.violation()->slot, Slot{3});
}

}  // namespace
}  // namespace tutti::testing
