/// How a view ends at Level::unordered, where the cut is another member's word.
#include <gtest/gtest.h>

#include <memory>

#include "multicast/follower.hpp"
#include "multicast/multicast.hpp"
#include "multicast/round_cut.hpp"
#include "support/forged_table.hpp"

namespace tutti::testing {
namespace {

// One that leads may lie about what it has received: the records that all have delivered here, and
// whose space was given back, stay where they are.
TEST(UnorderedCut, TakesBackNothingThatWasDelivered) {
  ForgedTable table({.level = Level::unordered});
  const GroupShape shape = table.shape(0);
  SendRing ring(shape.own_ring, shape.ring_granules, shape.window_records);
  Bounds bounds(shape.senders());
  MulticastCounters counters;
  Multicast<NativeMemory> multicast(shape, {}, &ring, bounds, counters);
  DeliveryTotals totals;
  const std::unique_ptr<Follower<NativeMemory>> delivery =
      make_follower(shape, NativeMemory{}, bounds, {}, totals);
  SendRing::Space space;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ring.claim(8, space), SendRing::Outcome::ok);
    ring.commit(space);
  }
  Outbox out;
  multicast.step(out);
  delivery->run(1);
  multicast.set_consumed(SenderIndex{0}, delivery->consumed(SenderIndex{0}));
  for (const std::uint32_t other : {1, 2}) table.received(other, 0, 3);
  multicast.step(out);
  ASSERT_EQ(ring.released(), 3U);

  multicast.wedge();
  bounds.close();
  ASSERT_TRUE(multicast.apply_cut(pack(RoundCut{.received = {0, 0, 0}}), *delivery));
  EXPECT_EQ(multicast.own_records_before_cut(), 3U);
  ring.rebase(multicast.own_records_before_cut(), 1);
}

// Nothing stops at a position, and every sender is named.
TEST(UnorderedCut, IsRefusedIfNoLeaderMakesIt) {
  ForgedTable table({.level = Level::unordered});
  const GroupShape shape = table.shape(0);
  SendRing ring(shape.own_ring, shape.ring_granules, shape.window_records);
  Bounds bounds(shape.senders());
  MulticastCounters counters;
  const Multicast<NativeMemory> multicast(shape, {}, &ring, bounds, counters);
  EXPECT_TRUE(multicast.is_sensible(pack(RoundCut{.received = {1, kNoRound, 3}})));
  EXPECT_FALSE(multicast.is_sensible(pack(RoundCut{.received = {1, 2}})));
  EXPECT_FALSE(multicast.is_sensible(pack(RoundCut{.round = 1, .received = {1, 2, 3}})));
  EXPECT_FALSE(multicast.is_sensible(Cut{}));
}

}  // namespace
}  // namespace tutti::testing
