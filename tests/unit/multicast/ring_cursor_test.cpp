#include "multicast/ring_cursor.hpp"

#include <gtest/gtest.h>

#include "sst/memory.hpp"
#include "support/forged_table.hpp"

namespace tutti::testing {
namespace {

class Walk : public ::testing::Test {
 protected:
  std::optional<std::uint64_t> from(std::uint64_t round, std::uint64_t records,
                                    RingCursor cursor = {}, std::uint64_t view = 0) {
    return first_round_from(walk(cursor, view), records, round);
  }
  std::optional<RingCursor> before(std::uint64_t rounds, std::uint64_t records,
                                   RingCursor cursor = {}, std::uint64_t view = 0) {
    return cursor_before(walk(cursor, view), records, rounds);
  }
  RingWalk<NativeMemory> walk(const RingCursor& cursor, std::uint64_t view) {
    return {memory, {table.ring(0).data(), 64}, cursor, view};
  }

  NativeMemory memory;

  ForgedTable table{{}};
  RingWriter writer{table.ring(0)};
};

TEST_F(Walk, FindsTheFirstRecordInARoundOrLater) {
  writer.put(8, 0);
  writer.put(8, 1);
  writer.put(8, 5);  // after three nulls
  EXPECT_EQ(from(0, 3), 0U);
  EXPECT_EQ(from(1, 3), 1U);
  EXPECT_EQ(from(2, 3), 5U);
  EXPECT_EQ(from(6, 3), kNoRound);
  EXPECT_EQ(from(2, 2), kNoRound) << "the third is not there yet";
}

TEST_F(Walk, GoesOnBehindAPad) {
  for (std::uint64_t round = 0; round < 3; ++round) writer.put(128, round);
  writer.put(128, 9);  // does not fit before the end
  EXPECT_EQ(from(3, 4), 9U);
}

TEST_F(Walk, StartsAnywhere) {
  writer.put(8, 0);
  writer.put(16, 1);
  writer.put(8, 2);
  EXPECT_EQ(from(2, 3, {.records = 2, .round = 2, .offset = 5}), 2U);
}

// R4.
TEST_F(Walk, IgnoresStampsOfOtherViews) {
  writer.put(8, 4);  // stamped in view 0
  EXPECT_EQ(from(0, 1), 4U);
  EXPECT_EQ(from(0, 1, {}, 1), 0U);
}

// Y4.
TEST_F(Walk, RefusesHeadersThatCannotBe) {
  writer.raw({1000, 0});
  EXPECT_EQ(from(1, 2), std::nullopt) << "beyond the end of the ring";
  writer.raw({kPadBit, 0});
  writer.raw_at(0, {kPadBit, 0});
  EXPECT_EQ(from(1, 2), std::nullopt) << "two pads in a row";
  EXPECT_EQ(before(1, 2), std::nullopt);
}

TEST_F(Walk, CountsTheRecordsBeforeARound) {
  writer.put(8, 0);
  writer.put(8, 1, kAbandonedBit);
  writer.put(8, 5);
  EXPECT_EQ(before(0, 3)->records, 0U);
  EXPECT_EQ(before(2, 3)->records, 2U);
  EXPECT_EQ(before(2, 3)->messages, 1U);
  EXPECT_EQ(before(5, 3)->records, 2U);
  EXPECT_EQ(before(6, 3)->records, 3U);
  EXPECT_EQ(before(6, 2)->records, 2U) << "the third is not there yet";
  const RingCursor second{.records = 1, .messages = 1, .round = 1, .offset = 2};
  EXPECT_EQ(before(6, 3, second)->messages, 2U);
}

// R4: the first to go on may have stamped what it sends again, while another counts still.
TEST_F(Walk, StopsAtARecordThatIsSentAgainInALaterView) {
  writer.put(8, 0);
  writer.raw_at(2, {8 | kStampedBit | view_tag(4), 1});
  EXPECT_EQ(before(9, 2, {}, 3)->records, 1U);
  EXPECT_EQ(before(9, 2, {}, 4)->records, 2U);
}

TEST(RingCursorCell, GivesBackWhatWasStored) {
  RingCursorCell cell;
  cell.store({.records = 3, .round = 1ULL << 40, .offset = 7});
  const std::optional<RingCursor> cursor = cell.load();
  ASSERT_TRUE(cursor.has_value());
  EXPECT_EQ(cursor->records, 3U);
  EXPECT_EQ(cursor->round, 1ULL << 40);
  EXPECT_EQ(cursor->offset, 7U);
}

}  // namespace
}  // namespace tutti::testing
