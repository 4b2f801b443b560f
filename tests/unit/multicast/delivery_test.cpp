/// Delivery over forged rings. Y1 .. Y4 are the invariants of follower.hpp.
#include "multicast/follower.hpp"

#include <gtest/gtest.h>

#include "unit/multicast/forged_delivery.hpp"

namespace tutti::testing {
namespace {

TEST(Delivery, Y1DeliversRoundByRoundInSenderOrder) {
  ForgedDelivery group({.members = 4, .sender_ranks = {2, 0, 3}});
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (RingWriter& ring : group.rings) ring.put(8, round);
  }
  for (std::uint32_t s = 0; s < 3; ++s) group.known(s, 2);
  EXPECT_TRUE(group.run());
  EXPECT_EQ(group.senders(), "203203");
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(group.messages[i].seq.value, i);
  EXPECT_EQ(group.delivery->position(), 6U);
  EXPECT_FALSE(group.run());
}

TEST(Delivery, Y1LeavesNullsOut) {
  ForgedDelivery group;
  group.rings[0].put(8, 0);
  group.rings[1].put(8, 2);
  group.rings[2].put(8, 1);
  group.rings[2].put(8, 2);
  for (std::uint32_t s = 0; s < 3; ++s) group.known(s, 3);
  EXPECT_TRUE(group.run());
  EXPECT_EQ(group.senders(), "0212");
  EXPECT_EQ(group.delivery->position(), 9U);
}

TEST(Delivery, HandsOverTheBytesInPlace) {
  ForgedDelivery group;
  const std::byte* first = group.rings[0].put(13, 0);
  const std::byte* second = group.rings[1].put(0, 0);
  group.known(0, 1);
  group.known(1, 1);
  group.run();
  ASSERT_EQ(group.messages.size(), 2U);
  EXPECT_EQ(group.messages[0].data, first);
  EXPECT_EQ(group.messages[0].size, 13U);
  EXPECT_EQ(group.messages[1].data, second);
  EXPECT_EQ(group.messages[1].size, 0U);
}

TEST(Delivery, Y2StopsAtARecordThatIsNotStable) {
  ForgedDelivery group;
  group.rings[0].put(8, 0);
  group.rings[1].put(8, 0);
  group.rings[2].put(8, 0);
  group.known(0, 1);
  group.known(1, 1, 0);
  group.known(2, 1);
  EXPECT_TRUE(group.run());
  EXPECT_EQ(group.senders(), "0");
  EXPECT_EQ(group.delivery->position(), 1U);
  EXPECT_FALSE(group.run());
  group.known(1, 1);
  EXPECT_TRUE(group.run());
  EXPECT_EQ(group.senders(), "012");
}

TEST(Delivery, Y2StopsAtASenderOfWhichNothingIsKnown) {
  ForgedDelivery group;
  group.rings[0].put(8, 0);
  group.rings[0].put(8, 1);
  group.rings[2].put(8, 0);
  group.known(0, 2);
  group.known(2, 1);
  group.run();
  EXPECT_EQ(group.senders(), "0");
  EXPECT_EQ(group.delivery->position(), 1U);
}

TEST(Delivery, Y2PassesANullThatIsKnownThoughNotStable) {
  ForgedDelivery group;
  group.rings[2].put(8, 0);
  group.known(0, 1, 0);
  group.known(1, 5, 0);
  group.known(2, 1);
  group.run();
  EXPECT_EQ(group.senders(), "2");
  EXPECT_EQ(group.delivery->position(), 3U);
}

TEST(Delivery, Y2PassesNoNullBeyondWhatIsKnown) {
  ForgedDelivery group;
  group.known(0, 7);
  group.known(1, 4);
  group.known(2, 9);
  EXPECT_TRUE(group.run());
  EXPECT_EQ(group.delivery->position(), 4U * 3 + 1);
  EXPECT_TRUE(group.messages.empty());
  EXPECT_FALSE(group.run());
}

TEST(Delivery, Y3MovesItsPositionAfterTheCallback) {
  ForgedDelivery group;
  group.rings[0].put(8, 0);
  group.known(0, 1);
  std::uint64_t inside = 99;
  std::uint64_t own = 99;
  group.on_batch = [&] {
    inside = group.delivery->position();
    own = group.totals.own_records.load();
  };
  group.run();
  EXPECT_EQ(inside, 0U);
  EXPECT_EQ(own, 0U);
  EXPECT_EQ(group.delivery->position(), 1U);
  EXPECT_EQ(group.totals.own_records.load(), 1U);
}

TEST(Delivery, Y3CountsConsumedRecordsAfterTheCallback) {
  ForgedDelivery group({.level = Level::unordered});
  group.rings[1].put(8, 0);
  group.known(1, 1);
  std::uint64_t inside = 99;
  group.on_batch = [&] { inside = group.delivery->consumed(SenderIndex{1}); };
  group.run();
  EXPECT_EQ(inside, 0U);
  EXPECT_EQ(group.delivery->consumed(SenderIndex{1}), 1U);
}

TEST(Delivery, DeliversNothingForAnAbandonedRecordButPassesIt) {
  ForgedDelivery group({.members = 1, .sender_ranks = {0}});
  group.rings[0].put(8, 0);
  group.rings[0].put(16, 1, kAbandonedBit);
  const std::byte* third = group.rings[0].put(8, 2);
  group.known(0, 3);
  group.run();
  ASSERT_EQ(group.messages.size(), 2U);
  EXPECT_EQ(group.messages[1].seq.value, 1U) << "no gap in the numbers";
  EXPECT_EQ(group.messages[1].data, third);
  EXPECT_EQ(group.totals.own_records.load(), 3U) << "tickets count claims";
  EXPECT_EQ(group.delivery->position(), 3U);
}

TEST(Delivery, SaysThatItMovedWhenItPassedOnlyAbandonedRecords) {
  for (const Level level : {Level::atomic, Level::unordered}) {
    ForgedDelivery group({.members = 1, .sender_ranks = {0}, .level = level});
    group.rings[0].put(8, 0, kAbandonedBit);
    group.known(0, 1);
    EXPECT_TRUE(group.run()) << "somebody must tell the sender";
    EXPECT_TRUE(group.batches.empty()) << "never an empty batch";
  }
}

TEST(Delivery, IsDoneOnceAllSendersFinishedAndSaysSo) {
  for (const Level level : {Level::atomic, Level::agreed, Level::unordered}) {
    ForgedDelivery group({.level = level});
    group.rings[1].put(8, 0);
    group.known(0, kNoRound);
    group.known(1, 1);
    group.known(2, kNoRound);
    EXPECT_TRUE(group.run());
    EXPECT_NE(group.delivery->position(), kDeliveredAll) << "sender 1 may send more";
    group.known(1, kNoRound);
    EXPECT_TRUE(group.run()) << "the others wait for this";
    EXPECT_EQ(group.delivery->position(), kDeliveredAll);
    EXPECT_FALSE(group.run());
  }
}

TEST(Delivery, IsNotDoneWhileARecordIsNotStable) {
  ForgedDelivery group({.members = 2, .sender_ranks = {0, 1}});
  group.rings[0].put(8, 3);
  group.known(0, kNoRound, 3);
  group.known(1, kNoRound);
  group.run();
  EXPECT_LT(group.delivery->position(), kDeliveredAll);
  group.known(0, kNoRound);
  group.run();
  EXPECT_EQ(group.messages.size(), 1U);
  EXPECT_EQ(group.delivery->position(), kDeliveredAll);
}

TEST(Delivery, BoundsItsBatchesByMessages) {
  ForgedDelivery group(
      {.members = 1, .sender_ranks = {0}, .ring_granules = 4096, .window_records = 4096});
  for (std::uint64_t i = 0; i < 1000; ++i) group.rings[0].put(0, i);
  group.known(0, 1000);
  EXPECT_TRUE(group.run(2));
  EXPECT_EQ(group.batches, (std::vector<std::size_t>{kDeliveryBatchMax, kDeliveryBatchMax}));
  EXPECT_EQ(group.delivery->position(), 2 * kDeliveryBatchMax);
  EXPECT_TRUE(group.run(8));
  EXPECT_EQ(group.messages.size(), 1000U);
}

TEST(Delivery, BoundsItsBatchesByBytes) {
  constexpr std::uint32_t kBytes = 16 * 1024;
  ForgedDelivery group(
      {.members = 1, .sender_ranks = {0}, .ring_granules = 1 << 16, .message_max_bytes = kBytes});
  for (std::uint64_t i = 0; i < 20; ++i) group.rings[0].put(kBytes, i);
  group.known(0, 20);
  group.run(100);
  EXPECT_EQ(group.messages.size(), 20U);
  for (const std::size_t size : group.batches) {
    EXPECT_LE(size * kBytes, 2 * kDeliveryBatchBytes);
  }
}

TEST(Delivery, GoesOnWithinARoundAfterAFullBatch) {
  ForgedDelivery group({.ring_granules = 1024, .window_records = 1024});
  for (std::uint64_t i = 0; i < 256; ++i) {
    for (RingWriter& ring : group.rings) ring.put(i % 2 == 0 ? 0 : 8, i);
  }
  for (std::uint32_t s = 0; s < 3; ++s) group.known(s, 256);
  while (group.run(1)) {
    EXPECT_EQ(group.delivery->position(), group.messages.size());
  }
  ASSERT_EQ(group.messages.size(), 768U);
  for (std::uint64_t i = 0; i < 768; ++i) ASSERT_EQ(group.messages[i].sender.value, i % 3);
}

TEST(Delivery, R3FollowsStampedRoundsOver2To32) {
  for (const std::uint64_t start : {(1ULL << 32) - 2, (5ULL << 32) - 1, (1ULL << 40) + 7}) {
    ForgedDelivery group({.members = 2, .sender_ranks = {0, 1}});
    group.known(0, start);
    group.known(1, start);
    group.run();
    EXPECT_EQ(group.delivery->position(), start * 2);
    for (const std::uint64_t round : {start, start + 1, start + 9}) {
      group.rings[1].put(8, round);
    }
    group.known(0, start + 10);
    group.known(1, start + 10);
    group.run();
    EXPECT_EQ(group.senders(), "111");
    EXPECT_EQ(group.delivery->position(), (start + 10) * 2);
    EXPECT_EQ(group.delivery->corrupt(), kNobody);
  }
}

TEST(Delivery, CountsWhatItHandsOver) {
  ForgedDelivery group({.members = 1, .sender_ranks = {0}});
  group.rings[0].put(5, 0);
  group.rings[0].put(7, 1);
  group.known(0, 2);
  group.run();
  EXPECT_EQ(group.totals.counters.messages.get(), 2U);
  EXPECT_EQ(group.totals.counters.bytes.get(), 12U);
  EXPECT_EQ(group.totals.counters.batches.snapshot().batches, 1U);
}

// The end of a view: what a dead sender sent beyond it is delivered by nobody, in blocks neither.
void end_with_four_of_sender_1(ForgedDelivery& group) {
  group.bounds.close();
  for (std::uint32_t s = 0; s < 3; ++s) {
    group.bounds.set(SenderIndex{s}, {.records = s == 1 ? 4U : 9U, .known = 9, .stable = 9});
  }
  group.bounds.make_final();
  group.bounds.open();
}

TEST(Delivery, DeliversNoRecordBehindTheFinalBounds) {
  for (const std::uint64_t before : {0, 4, 3}) {
    ForgedDelivery group;
    for (std::uint64_t round = 0; round < 9; ++round) {
      for (RingWriter& ring : group.rings) ring.put(8, round);
    }
    for (std::uint32_t s = 0; s < 3; ++s) group.known(s, before);
    group.run();  // it has found the record behind those
    end_with_four_of_sender_1(group);
    group.run();
    EXPECT_EQ(group.delivery->corrupt(), kNobody);
    EXPECT_EQ(group.senders(), "0120120120120202020202") << before;
    EXPECT_EQ(group.delivery->position(), 27U);
  }
}

// N2: during a callback the view has come to its end, and is delivered in further.
TEST(Delivery, HeedsBoundsThatBecomeFinalDuringACallback) {
  ForgedDelivery group({.ring_granules = 1024, .window_records = 512});
  for (std::uint64_t round = 0; round < 200; ++round) {
    for (RingWriter& ring : group.rings) ring.put(0, round);
  }
  for (std::uint32_t s = 0; s < 3; ++s) group.known(s, 200, 150);
  group.on_batch = [&] {
    if (group.batches.size() > 1) return;
    group.bounds.close();
    for (std::uint32_t s = 0; s < 3; ++s) {
      group.bounds.set(SenderIndex{s},
                       {.records = s == 1 ? 100U : 170U, .known = 170, .stable = 170});
    }
    group.bounds.make_final();
    group.bounds.open();
  };
  group.run();
  EXPECT_EQ(group.messages.size(), 440U);
}

TEST(Delivery, StopsAfterACallbackDuringWhichTheBoundsWereClosed) {
  ForgedDelivery group({.ring_granules = 1024, .window_records = 512});
  for (std::uint64_t round = 0; round < 200; ++round) {
    for (RingWriter& ring : group.rings) ring.put(0, round);
  }
  for (std::uint32_t s = 0; s < 3; ++s) group.known(s, 200);
  group.on_batch = [&] { group.bounds.close(); };
  EXPECT_TRUE(group.run());
  EXPECT_EQ(group.batches.size(), 1U);
}

// Sender 1 went on to the next view without us, and may write where its records were.
TEST(Delivery, Y5HandsNothingOverOnceASenderHasGoneOn) {
  ForgedDelivery group;
  for (std::uint32_t s = 0; s < 3; ++s) {
    group.rings[s].put(8, 0);
    group.rings[s].put(8, 1);
    group.known(s, 1);
  }
  group.run();
  EXPECT_EQ(group.senders(), "012");
  EXPECT_FALSE(group.delivery->stale());
  group.table.epoch(1, 7);
  for (std::uint32_t s = 0; s < 3; ++s) group.known(s, 2);
  EXPECT_FALSE(group.run());
  EXPECT_TRUE(group.delivery->stale());
  EXPECT_EQ(group.senders(), "012");
  EXPECT_EQ(group.delivery->position(), 3U);
}

TEST(Delivery, Y5CallsNobodyCorruptWhoseRingIsUsedAgain) {
  ForgedDelivery group;
  group.rings[1].put(8, 0);
  group.rings[1].raw_at(0, {kLengthMask, 0});
  group.table.epoch(1, 7);
  group.known(1, 1);
  group.run();
  EXPECT_TRUE(group.delivery->stale());
  EXPECT_EQ(group.delivery->corrupt(), kNobody);
}

TEST(Delivery, Y5TellsACallbackThatItsMessagesMayBeOverwritten) {
  ForgedDelivery group;
  group.rings[0].put(8, 0);
  std::vector<bool> in_place;
  group.on_batch = [&] {
    in_place.push_back(group.delivery->in_place());
    group.table.epoch(0, 7);
    in_place.push_back(group.delivery->in_place());
    group.table.reclaimed(0, 1);
    in_place.push_back(group.delivery->in_place());
  };
  group.shape.own_sender = {2};
  group.known(0, 1);
  group.delivery = make_follower(
      group.shape, NativeMemory{}, group.bounds, [&](auto) { group.on_batch(); }, group.totals);
  group.run();
  EXPECT_EQ(in_place, (std::vector<bool>{true, true, false}));
}

TEST(Delivery, GoesWithoutACallback) {
  ForgedTable table({});
  const GroupShape shape = table.shape(0);
  Bounds bounds(3);
  DeliveryTotals totals;
  const std::unique_ptr<Follower<NativeMemory>> delivery =
      make_follower(shape, NativeMemory{}, bounds, {}, totals);
  RingWriter writer(table.ring(0));
  writer.put(8, 0);
  bounds.set(SenderIndex{0}, {.records = 1, .known = 1, .stable = 1});
  EXPECT_TRUE(delivery->run(1));
  EXPECT_EQ(totals.counters.messages.get(), 1U);
}

}  // namespace
}  // namespace tutti::testing
