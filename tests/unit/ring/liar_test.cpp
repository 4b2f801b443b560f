/// Who is named when a member of a ring lies about the token, whether it sends messages or not.
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
  Subgroup<NativeMemory> group(ring.table.shape(1), {.peers = {Slot{5}, Slot{7}}}, {});
  group.step(effects);
  EXPECT_FALSE(group.violation());
  ring.post(0, {.visit = 1, .seq = 0, .aru = 5});
  group.step(effects);
  ASSERT_TRUE(group.violation());
  EXPECT_EQ(group.violation()->rank, 0U);
  EXPECT_EQ(group.violation()->slot, Slot{5});
}

}  // namespace
}  // namespace tutti::testing
