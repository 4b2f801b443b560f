/// Y4 of follower.hpp: whatever a sender writes into its ring, nothing is read beside it. The rings
/// are allocations of their own, so AddressSanitizer sees it.
#include <gtest/gtest.h>

#include "base/prng.hpp"
#include "unit/multicast/forged_delivery.hpp"

namespace tutti::testing {
namespace {

// Some good records, then nonsense as the sender's next. Nothing after it is delivered.
void expect_refused(std::uint64_t good, const std::function<void(RingWriter&)>& write_nonsense) {
  ForgedDelivery group({.members = 4, .sender_ranks = {0, 3}});
  for (std::uint64_t round = 0; round < good; ++round) group.rings[1].put(128, round);
  group.known(0, good);
  group.known(1, good);
  group.run();
  group.rings[0].put(8, good);
  group.rings[0].put(8, good + 1);
  write_nonsense(group.rings[1]);
  group.bounds.set(SenderIndex{0}, {.records = 2, .known = 9, .stable = 9});
  group.bounds.set(SenderIndex{1}, {.records = good + 1, .known = 9, .stable = 9});
  group.run();
  EXPECT_EQ(group.delivery->corrupt(), Rank{3}) << "the rank, not the index";
  EXPECT_EQ(group.messages.size(), good + 1) << "the one before it in its round";
  EXPECT_EQ(group.delivery->position(), 2 * good + 1);
  EXPECT_FALSE(group.run());
  EXPECT_EQ(group.messages.size(), good + 1);
}

TEST(DeliveryHeaders, Y4RefusesALengthOverTheMaximum) {
  expect_refused(1, [](RingWriter& ring) { ring.raw({129, 0}); });
  expect_refused(1, [](RingWriter& ring) { ring.raw({kLengthMask, 0}); });
  expect_refused(1, [](RingWriter& ring) { ring.raw({129 | kAbandonedBit, 0}); });
  expect_refused(1, [](RingWriter& ring) { ring.raw({129 | kStampedBit, 1}); });
}

// R6.
void expect_tick(std::uint64_t tick_every_ns, std::uint64_t time_ns, std::uint32_t kind,
                 bool good) {
  ForgedDelivery group({.members = 1, .sender_ranks = {0}, .tick_every_ns = tick_every_ns});
  std::byte* message = group.rings[0].put(8, 0);
  group.rings[0].raw({kTickLength | kind, 0});
  store_cell(message + 2 * kGranule, time_ns);  // behind the tick's header
  group.bounds.set(SenderIndex{0}, {.records = 2, .known = 2, .stable = 2});
  group.run();
  EXPECT_EQ(group.delivery->corrupt(), good ? kNobody : Rank{0}) << time_ns << ' ' << kind;
  ASSERT_EQ(group.messages.size(), good ? 2U : 1U);
  if (good) {
    EXPECT_EQ(group.messages[1].tick()->time_ns, time_ns);
  }
  EXPECT_EQ(group.totals.last_tick_ns.load(), good ? time_ns : 0);
}

TEST(DeliveryHeaders, Y4RefusesTicksThatNobodyMayPut) {
  expect_tick(1'000'000, 7, 0, true);
  expect_tick(1'000'000, (1ULL << 63) - 1, 0, true);
  expect_tick(0, 7, 0, false);
  expect_tick(1'000'000, 0, 0, false);
  expect_tick(1'000'000, 1ULL << 63, 0, false);
  for (const std::uint32_t kind : {kPadBit, kAbandonedBit, kSafeBits}) {
    expect_tick(1'000'000, 7, kind, false);
  }
}

TEST(DeliveryHeaders, Y4RefusesARecordThatGoesOverTheEndOfTheRing) {
  expect_refused(3, [](RingWriter& ring) { ring.raw({97, 0}); });  // from granule 51: 14 of 13
  expect_refused(3, [](RingWriter& ring) { ring.raw({128 | kAbandonedBit, 0}); });
}

TEST(DeliveryHeaders, Y4RefusesTwoPadsInARow) {
  expect_refused(2, [](RingWriter& ring) {
    ring.raw({kPadBit, 0});
    ring.raw_at(0, {kPadBit, 0});
  });
}

TEST(DeliveryHeaders, Y4RefusesNonsenseAfterAPad) {
  expect_refused(2, [](RingWriter& ring) {
    ring.raw({kPadBit, 0});
    ring.raw_at(0, {129, 0});
  });
}

TEST(DeliveryHeaders, Y4RefusesAPadAtTheStartOfTheRing) {
  ForgedDelivery group({.members = 1, .sender_ranks = {0}});
  group.rings[0].raw({kPadBit, 0});
  group.bounds.set(SenderIndex{0}, {.records = 1, .known = 1, .stable = 1});
  group.run();
  EXPECT_EQ(group.delivery->corrupt(), Rank{0});
  EXPECT_TRUE(group.messages.empty());
}

// A stamp can only move a round forward, modulo 2^32: one that is behind is far ahead, and there
// nothing is known.
TEST(DeliveryHeaders, Y4DeliversNothingForAStampThatIsBehind) {
  ForgedDelivery group({.members = 1, .sender_ranks = {0}});
  group.rings[0].put(8, 5);
  group.rings[0].raw({8 | kStampedBit, 3});
  group.bounds.set(SenderIndex{0}, {.records = 2, .known = 10, .stable = 10});
  group.run();
  EXPECT_EQ(group.messages.size(), 1U);
  EXPECT_LE(group.delivery->position(), 10U);
}

// Delivery stands in the middle of a round, behind a sender that had a null there. If the sender
// comes with a record for that round all the same, and finishes, no later round is its record's.
TEST(DeliveryHeaders, Y4RefusesARecordInARoundThatWasPassed) {
  ForgedDelivery group({.members = 2, .sender_ranks = {0, 1}});
  group.bounds.set(SenderIndex{0}, {.records = 0, .known = 1, .stable = 1});
  group.run();
  EXPECT_EQ(group.delivery->position(), 1U) << "the other's round is not known";
  group.rings[0].put(8, 0);
  group.bounds.set(SenderIndex{0}, {.records = 1, .known = kNoRound, .stable = kNoRound});
  group.bounds.set(SenderIndex{1}, {.records = 0, .known = kNoRound, .stable = kNoRound});
  group.run();
  EXPECT_EQ(group.delivery->corrupt(), Rank{0});
  EXPECT_TRUE(group.messages.empty());
}

// Any bytes as a ring, any bounds: messages lie wholly within it, and are not over the maximum.
void run_on_noise(std::uint64_t seed, Level level) {
  Prng random(seed);
  ForgedDelivery group({.members = 3, .sender_ranks = {0, 1, 2}, .level = level});
  for (std::uint32_t s = 0; s < 3; ++s) {
    AlignedRow& ring = group.table.ring(s);
    for (std::size_t at = 0; at < ring.size(); at += 8) {
      std::uint64_t word = random.below(150);  // often a length that may be
      if (random.one_in(4)) word |= kStampedBit | (random.below(4) << 32);
      if (random.one_in(8)) word |= kPadBit;
      if (random.one_in(8)) word |= kAbandonedBit;
      if (random.one_in(8)) word = random.next();
      std::memcpy(ring.data() + at, &word, sizeof word);
    }
  }
  SenderBounds bounds;
  for (int i = 0; i < 8; ++i) {
    bounds.records += random.below(16);
    bounds.known = bounds.records + random.below(40);
    bounds.stable = bounds.known;
    for (std::uint32_t s = 0; s < 3; ++s) group.bounds.set(SenderIndex{s}, bounds);
    group.run();
  }
  for (const Message& message : group.messages) {
    const AlignedRow& ring = group.table.ring(message.sender.value);
    ASSERT_GE(message.data, ring.data() + 8);
    ASSERT_LE(message.data + message.size, ring.data() + ring.size());
    ASSERT_LE(message.size, 128U);
  }
}

TEST(DeliveryHeaders, Y4StaysInsideTheRingOnNoise) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    run_on_noise(seed, seed % 3 == 0 ? Level::unordered : Level::atomic);
  }
}

}  // namespace
}  // namespace tutti::testing
