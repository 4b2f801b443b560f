/// \file shrink_test.cpp
/// A record that turns out shorter than its claim: the space behind it is free again, or padded.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <thread>

#include "base/prng.hpp"
#include "multicast/ring_cursor.hpp"
#include "sst/memory.hpp"
#include "unit/smc/ring_fixture.hpp"

namespace tutti::testing {
namespace {

using Outcome = SendRing::Outcome;

TEST(Shrink, FreesWhatTheNewestClaimDoesNotNeed) {
  RingFixture fixture(64, 16);
  SendRing::Space first;
  SendRing::Space second;
  ASSERT_EQ(fixture.ring.claim(62 * 8, first), Outcome::ok);
  ASSERT_EQ(fixture.ring.claim(8, second), Outcome::full);
  fixture.ring.commit(fixture.ring.shrink(first, 13));
  ASSERT_EQ(fixture.ring.claim(8, second), Outcome::ok);
  EXPECT_EQ(second.payload, first.payload + 16 + kGranule) << "right behind the two granules used";
  fixture.ring.commit(second);
  const std::vector<RecordHeader> records = fixture.records(fixture.take());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].length_and_flags, 13U);
  EXPECT_EQ(records[1].length_and_flags, 8U);
}

// R1.
TEST(Shrink, PadsTheSpaceIfMoreWasClaimedBehindIt) {
  RingFixture fixture(64, 16);
  SendRing::Space first;
  SendRing::Space second;
  ASSERT_EQ(fixture.ring.claim(40, first), Outcome::ok);
  ASSERT_EQ(fixture.ring.claim(8, second), Outcome::ok);
  fixture.ring.commit(fixture.ring.shrink(first, 8));
  fixture.ring.commit(second);
  const SendRing::Batch batch = fixture.take();
  EXPECT_EQ(batch.count, 2U);
  EXPECT_EQ(batch.end, 8U);
  EXPECT_EQ(fixture.header_at(0).length_and_flags, 8U);
  EXPECT_EQ(fixture.header_at(2).length_and_flags, kPadBit | 4U) << "four granules, its own too";
  EXPECT_EQ(fixture.header_at(6).length_and_flags, 8U);
}

TEST(Shrink, ByLessThanAGranuleMovesNothing) {
  RingFixture fixture(64, 16);
  SendRing::Space first;
  SendRing::Space second;
  ASSERT_EQ(fixture.ring.claim(16, first), Outcome::ok);
  const SendRing::Space shrunk = fixture.ring.shrink(first, 9);
  EXPECT_EQ(shrunk.end, first.end);
  ASSERT_EQ(fixture.ring.claim(8, second), Outcome::ok);
  EXPECT_EQ(second.end, 5U);
  fixture.ring.commit(shrunk);
  EXPECT_EQ(fixture.records(fixture.take()).front().length_and_flags, 9U);
}

TEST(Shrink, WorksInARingThatThreadsShare) {
  RingFixture fixture(64, 16);
  ASSERT_TRUE(fixture.send(8));
  std::thread([&] { ASSERT_TRUE(fixture.send(8)); }).join();  // from here on it is shared
  SendRing::Space last;
  ASSERT_EQ(fixture.ring.claim(20 * 8, last), Outcome::ok);
  std::thread([&] { fixture.ring.commit(fixture.ring.shrink(last, 8)); }).join();
  SendRing::Space next;
  ASSERT_EQ(fixture.ring.claim(8, next), Outcome::ok);
  EXPECT_EQ(next.payload, last.payload + 8 + kGranule);
}

// SR4.
TEST(Shrink, OfAClosedRingIsTakenAllTheSame) {
  RingFixture fixture(64, 16);
  SendRing::Space space;
  ASSERT_EQ(fixture.ring.claim(80, space), Outcome::ok);
  fixture.ring.close();
  fixture.ring.commit(fixture.ring.shrink(space, 0));
  EXPECT_EQ(fixture.take().count, 1U);
  EXPECT_TRUE(fixture.ring.closed_and_empty());
}

// Claims of any size, up to four open at a time, committed in any order with any part used: a walk
// over the ring finds exactly what was committed, in the order of the claims.
TEST(Shrink, LeavesARingThatCanBeWalked) {
  struct Open {
    SendRing::Space space{};
    std::uint32_t claimed = 0;
    std::uint32_t used = 0;
    bool committed = false;
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Prng random(seed);
    RingFixture fixture(128, 16);
    const NativeMemory memory;
    RingCursor cursor{};
    std::deque<Open> open;
    for (int step = 0; step < 2000; ++step) {
      Open claim{.claimed = static_cast<std::uint32_t>(random.below(300))};
      if (open.size() < 4 && fixture.ring.claim(claim.claimed, claim.space) == Outcome::ok) {
        open.push_back(claim);
      }
      if (open.empty()) continue;
      Open& some = open[random.below(open.size())];
      if (!some.committed) {
        some.used = static_cast<std::uint32_t>(random.below(some.claimed + 1));
        std::memset(some.space.payload, static_cast<int>(some.space.index), some.used);
        fixture.ring.commit(fixture.ring.shrink(some.space, some.used));
        some.committed = true;
      }
      const SendRing::Batch batch = fixture.take();
      for (std::uint32_t record = 0; record < batch.count; ++record) {
        RingWalk<NativeMemory> walk(memory, {fixture.memory.data(), 128}, cursor, 0);
        ASSERT_TRUE(walk.look()) << seed;
        const std::uint32_t at = walk.cursor().offset;
        ASSERT_TRUE(open.front().committed) << seed;
        ASSERT_EQ(fixture.header_at(at).length(), open.front().used) << seed;
        ASSERT_EQ(fixture.memory.data() + (at + 1) * kGranule, open.front().space.payload) << seed;
        for (std::uint32_t i = 0; i < open.front().used; ++i) {
          ASSERT_EQ(open.front().space.payload[i], static_cast<std::byte>(open.front().space.index))
              << seed;
        }
        ASSERT_TRUE(walk.pass()) << seed;
        cursor = walk.cursor();
        open.pop_front();
      }
      if (batch.count != 0) fixture.ring.release(batch.first + batch.count);
    }
    EXPECT_GT(cursor.records, 500U) << seed;
  }
}

}  // namespace
}  // namespace tutti::testing
