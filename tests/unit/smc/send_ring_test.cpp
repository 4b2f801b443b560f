#include "smc/send_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "base/prng.hpp"
#include "unit/smc/ring_fixture.hpp"

namespace tutti::testing {
namespace {

using Outcome = SendRing::Outcome;

// SR1.
TEST(SendRing, ClaimsFollowOneAnotherInTheRing) {
  RingFixture fixture(64, 16);
  SendRing::Space first;
  SendRing::Space second;
  ASSERT_EQ(fixture.ring.claim(8, first), Outcome::ok);
  ASSERT_EQ(fixture.ring.claim(0, second), Outcome::ok);
  EXPECT_EQ(first.payload, fixture.memory.data() + 8);
  EXPECT_EQ(second.payload, fixture.memory.data() + 24);
  EXPECT_EQ(first.index, 0U);
  EXPECT_EQ(second.index, 1U);
  EXPECT_EQ(first.end, 2U);
  EXPECT_EQ(second.end, 3U);
}

TEST(SendRing, TakesNothingThatIsNotCommitted) {
  RingFixture fixture(64, 16);
  EXPECT_EQ(fixture.take().count, 0U);
  SendRing::Space space;
  ASSERT_EQ(fixture.ring.claim(8, space), Outcome::ok);
  EXPECT_EQ(fixture.take().count, 0U);
}

// SR2.
TEST(SendRing, TakesOnlyThePrefixThatIsCommitted) {
  RingFixture fixture(64, 16);
  std::array<SendRing::Space, 3> spaces;
  for (SendRing::Space& space : spaces) ASSERT_EQ(fixture.ring.claim(8, space), Outcome::ok);
  fixture.ring.commit(spaces[2]);
  fixture.ring.commit(spaces[1]);
  EXPECT_EQ(fixture.take().count, 0U);
  fixture.ring.commit(spaces[0]);
  const SendRing::Batch batch = fixture.take();
  EXPECT_EQ(batch.first, 0U);
  EXPECT_EQ(batch.count, 3U);
  EXPECT_EQ(batch.begin, 0U);
  EXPECT_EQ(batch.end, 6U);
  EXPECT_EQ(fixture.take().count, 0U) << "once only";
}

TEST(SendRing, WritesTheLengthAndRoundOfEachRecord) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(13) && fixture.send(0));
  const std::vector<RecordHeader> records = fixture.records(fixture.take());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].length_and_flags, 13U);
  EXPECT_EQ(records[1].length_and_flags, 0U);
}

// R1.
TEST(SendRing, PadsWhatIsLeftAtTheEndOfTheRing) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(30 * 8) && fixture.send(28 * 8));  // 31 + 29 granules
  fixture.take();
  fixture.ring.release(2);
  SendRing::Space space;
  ASSERT_EQ(fixture.ring.claim(4 * 8, space), Outcome::ok) << "5 granules, 4 are left";
  EXPECT_EQ(space.payload, fixture.memory.data() + 8);
  fixture.ring.commit(space);
  const SendRing::Batch batch = fixture.take();
  EXPECT_EQ(batch.begin, 60U);
  EXPECT_EQ(batch.end, 64U + 5U);
  const std::vector<RecordHeader> records = fixture.records(batch);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].pad());
  EXPECT_EQ(records[1].length(), 32U);
}

TEST(SendRing, NeedsNoPadWhenARecordEndsWithTheRing) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(31 * 8) && fixture.send(31 * 8));
  fixture.take();
  fixture.ring.release(2);
  SendRing::Space space;
  ASSERT_EQ(fixture.ring.claim(8, space), Outcome::ok);
  EXPECT_EQ(space.payload, fixture.memory.data() + 8);
  EXPECT_EQ(space.end, 66U);
}

TEST(SendRing, AlwaysHasSpaceForHalfTheRingWhenEmpty) {
  for (std::uint32_t position = 0; position < 64; ++position) {
    RingFixture fixture(64, 256);
    for (std::uint32_t i = 0; i < position; ++i) ASSERT_TRUE(fixture.send(0));
    fixture.take();
    fixture.ring.release(position);
    EXPECT_TRUE(fixture.send(31 * 8)) << "from granule " << position;
  }
}

// R5.
TEST(SendRing, MarksSafeMessagesAlsoWhenTheyAreSentAgain) {
  RingFixture fixture(64, 16);
  SendRing::Space space;
  ASSERT_EQ(fixture.ring.claim(16, space), Outcome::ok);
  fixture.ring.commit_safe(space);
  ASSERT_TRUE(fixture.send(1));
  for (std::uint64_t view = 1; view < 4; ++view) {
    const SendRing::Batch batch = fixture.take();
    fixture.ring.stamp(batch, 7, view);
    const std::vector<RecordHeader> records = fixture.records(batch);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_TRUE(records[0].safe() && records[0].stamped());
    EXPECT_EQ(records[0].length(), 16U);
    EXPECT_FALSE(records[1].safe());
    fixture.ring.rebase(0, view + 1);
  }
}

// R2.
TEST(SendRing, MarksAbandonedRecordsAndTakesThem) {
  RingFixture fixture(64, 16);
  SendRing::Space space;
  ASSERT_EQ(fixture.ring.claim(16, space), Outcome::ok);
  fixture.ring.abandon(space);
  ASSERT_TRUE(fixture.send(1));
  const std::vector<RecordHeader> records = fixture.records(fixture.take());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].abandoned());
  EXPECT_EQ(records[0].length(), 16U) << "its reader must find the next one";
  EXPECT_FALSE(records[1].abandoned());
}

// R3.
TEST(SendRing, StampsTheFirstHeaderOfABatchWithItsRound) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(3) && fixture.send(4));
  const SendRing::Batch batch = fixture.take();
  fixture.ring.stamp(batch, (7ULL << 32) + 99, 0);
  const std::vector<RecordHeader> records = fixture.records(batch);
  EXPECT_TRUE(records[0].stamped());
  EXPECT_EQ(records[0].round, 99U) << "modulo 2^32";
  EXPECT_EQ(records[0].length(), 3U);
  EXPECT_FALSE(records[1].stamped());
}

// R3.
TEST(SendRing, StampsThePadInFront) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(31 * 8) && fixture.send(29 * 8));
  fixture.take();
  fixture.ring.release(2);
  ASSERT_TRUE(fixture.send(8 * 8));
  const SendRing::Batch batch = fixture.take();
  fixture.ring.stamp(batch, 5, 0);
  const std::vector<RecordHeader> records = fixture.records(batch);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].pad() && records[0].stamped());
  EXPECT_EQ(records[0].round, 5U);
  EXPECT_FALSE(records[1].stamped());
}

TEST(SendRing, ClearsFlagsOfTheRecordThatWasThereBefore) {
  RingFixture fixture(16, 16);
  SendRing::Space space;
  for (std::uint64_t i = 0; i < 40; ++i) {
    ASSERT_EQ(fixture.ring.claim(8, space), Outcome::ok);
    if (i < 20) {
      fixture.ring.abandon(space);
    } else {
      fixture.ring.commit(space);
    }
    const SendRing::Batch batch = fixture.take();
    EXPECT_EQ(fixture.records(batch).back().abandoned(), i < 20);
    EXPECT_FALSE(fixture.records(batch).back().stamped());
    fixture.ring.stamp(batch, i, 0);
    fixture.ring.release(i + 1);
  }
}

// SR3, in bytes.
TEST(SendRing, IsFullWhenNoGranulesAreLeft) {
  RingFixture fixture(64, 256);
  for (int i = 0; i < 32; ++i) ASSERT_TRUE(fixture.send(8));
  EXPECT_FALSE(fixture.send(0));
  fixture.take();
  EXPECT_FALSE(fixture.send(0)) << "taken is not released";
  fixture.ring.release(1);
  EXPECT_TRUE(fixture.send(8));
  EXPECT_FALSE(fixture.send(0));
}

// SR3, in records.
TEST(SendRing, IsFullWhenTheWindowOfRecordsIsUsedUp) {
  RingFixture fixture(64, 4);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(fixture.send(0));
  EXPECT_FALSE(fixture.send(0));
  fixture.take();
  fixture.ring.release(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(fixture.send(0));
  EXPECT_FALSE(fixture.send(0));
}

// SR3: with its pad, the record would reach into space that is still read.
TEST(SendRing, IsFullWhenTheRecordFitsOnlyWithoutItsPad) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(15 * 8) && fixture.send(31 * 8) &&
              fixture.send(11 * 8));  // 16 + 32 + 12
  fixture.take();
  fixture.ring.release(1);
  EXPECT_FALSE(fixture.send(16 * 8)) << "4 granules of pad and 17 of 16";
  EXPECT_TRUE(fixture.send(15 * 8));
}

TEST(SendRing, TakesAtMostSoManyBytesButAlwaysARecord) {
  RingFixture fixture(256, 64);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(fixture.send(24));  // 4 granules each
  EXPECT_EQ(fixture.ring.take(8).count, 1U);
  EXPECT_EQ(fixture.ring.take(64).count, 2U);
  EXPECT_EQ(fixture.ring.take(95).count, 2U);
  EXPECT_EQ(fixture.ring.take(1 << 20).count, 5U);
}

// SR4.
TEST(SendRing, GrantsNoClaimOnceClosedAndTakesThoseMadeBefore) {
  RingFixture fixture(64, 16);
  SendRing::Space space;
  ASSERT_EQ(fixture.ring.claim(8, space), Outcome::ok);
  EXPECT_FALSE(fixture.ring.closed_and_empty());
  fixture.ring.close();
  fixture.ring.close();
  SendRing::Space refused;
  EXPECT_EQ(fixture.ring.claim(8, refused), Outcome::closed);
  EXPECT_EQ(fixture.take().count, 0U);
  EXPECT_FALSE(fixture.ring.closed_and_empty()) << "a claim is open";
  fixture.ring.commit(space);
  EXPECT_FALSE(fixture.ring.closed_and_empty()) << "a record is not taken";
  EXPECT_EQ(fixture.take().count, 1U);
  EXPECT_TRUE(fixture.ring.closed_and_empty());
}

TEST(SendRing, IsClosedRatherThanFull) {
  RingFixture fixture(64, 2);
  ASSERT_TRUE(fixture.send(0) && fixture.send(0));
  fixture.ring.close();
  SendRing::Space space;
  EXPECT_EQ(fixture.ring.claim(0, space), Outcome::closed);
}

TEST(SendRingDeathTest, RefusesToReleaseWhatWasNotTaken) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(8));
  EXPECT_DEATH(fixture.ring.release(1), "broken invariant");
}

// Random claims, commits out of order, takes and releases, against a list of what is in the ring:
// no two live records share a byte, and contents come out as they went in, over many wraps.
TEST(SendRing, AgreesWithAListOfLiveRecords) {
  struct Live {
    SendRing::Space space;
    std::uint32_t bytes = 0;
    bool committed = false;
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const auto window = static_cast<std::uint32_t>(2ULL << random.below(7));
    RingFixture fixture(64, window);
    std::deque<Live> live;  // claimed, not released
    std::uint64_t released = 0;
    std::uint64_t taken = 0;
    for (int i = 0; i < 2000; ++i) {
      Live claim;
      claim.bytes = static_cast<std::uint32_t>(random.below(8 * random.below(31) + 1));
      if (fixture.ring.claim(claim.bytes, claim.space) == Outcome::ok) {
        ASSERT_EQ(claim.space.index, released + live.size());
        std::memset(claim.space.payload, static_cast<int>(claim.space.index & 0xff), claim.bytes);
        live.push_back(claim);
      } else {
        ASSERT_FALSE(live.empty()) << "full though empty";
      }
      if (!live.empty()) {
        Live& one = live[random.below(live.size())];
        if (!one.committed) fixture.ring.commit(one.space);
        one.committed = true;
      }
      const auto hole = std::ranges::find(live, false, &Live::committed);
      const SendRing::Batch batch = fixture.take();
      ASSERT_EQ(batch.first, taken);
      taken += batch.count;
      ASSERT_EQ(taken, released + static_cast<std::uint64_t>(hole - live.begin()));
      for (const Live& record : live) {
        for (std::uint32_t b = 0; b < record.bytes; ++b) {
          ASSERT_EQ(record.space.payload[b], static_cast<std::byte>(record.space.index & 0xff));
        }
      }
      for (std::uint64_t n = random.below(taken - released + 1); n > 0; --n) {
        live.pop_front();
        ++released;
      }
      fixture.ring.release(released);
      ASSERT_EQ(fixture.ring.released(), released);
    }
  }
}

}  // namespace
}  // namespace tutti::testing
