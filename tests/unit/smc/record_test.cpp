#include "smc/record.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(RecordHeader, CarriesLengthFlagsAndRound) {
  const RecordHeader header{.length_and_flags = 12345 | kStampedBit | kAbandonedBit,
                            .round = 0xfedcba98};
  const RecordHeader read = unpack_header(pack_header(header));
  EXPECT_EQ(read.length(), 12345U);
  EXPECT_EQ(read.round, 0xfedcba98U);
  EXPECT_TRUE(read.stamped());
  EXPECT_TRUE(read.abandoned());
  EXPECT_FALSE(read.pad());
}

TEST(RecordHeader, KeepsFlagsOutOfTheLength) {
  const RecordHeader header{.length_and_flags = 0xffffffff, .round = 0};
  EXPECT_EQ(header.length(), (1U << 25) - 1);
  EXPECT_TRUE(header.safe());
  EXPECT_EQ(kLengthMask & (kPadBit | kAbandonedBit | kStampedBit | kViewMask), 0U);
}

// R1, R2, R5.
TEST(RecordHeader, IsOfOneKind) {
  for (const std::uint32_t bits : {0U, kPadBit, kAbandonedBit, kSafeBits}) {
    const RecordHeader header{.length_and_flags = 7 | kStampedBit | bits, .round = 0};
    EXPECT_EQ(header.pad(), bits == kPadBit);
    EXPECT_EQ(header.abandoned(), bits == kAbandonedBit);
    EXPECT_EQ(header.safe(), bits == kSafeBits);
    EXPECT_EQ(header.length(), 7U);
  }
}

// R4.
TEST(RecordHeader, TellsWhichViewAStampIsOf) {
  for (const std::uint64_t view : {0ULL, 7ULL, 15ULL, 16ULL, 1'000'003ULL}) {
    const RecordHeader stamped{.length_and_flags = 5 | kStampedBit | view_tag(view), .round = 1};
    EXPECT_EQ(stamped.length(), 5U);
    EXPECT_EQ(stamped.stamp_seen_from(view), StampFrom::this_view);
    EXPECT_EQ(stamped.stamp_seen_from(view + 1), StampFrom::earlier);
    EXPECT_EQ(stamped.stamp_seen_from(view + 2), StampFrom::earlier);
    EXPECT_EQ(stamped.stamp_seen_from(view + 15), StampFrom::later) << "modulo 16";
  }
}

TEST(RecordHeader, HasRoomForTheLargestMessage) { EXPECT_GT(kLengthMask, 16U * 1024 * 1024); }

// R6.
TEST(RecordHeader, SaysATickInALengthThatNoMessageHas) {
  EXPECT_GT(kTickLength, 16U * 1024 * 1024);
  for (const std::uint32_t flags : {0U, kStampedBit | view_tag(3)}) {
    const RecordHeader tick{.length_and_flags = kTickLength | flags, .round = 1};
    EXPECT_TRUE(tick.tick());
    EXPECT_EQ(tick.length(), kTickBytes);
    EXPECT_FALSE(tick.pad() || tick.safe() || tick.abandoned());
  }
  for (const std::uint32_t kind : {kPadBit, kAbandonedBit, kSafeBits}) {
    EXPECT_FALSE((RecordHeader{.length_and_flags = kTickLength | kind, .round = 1}.tick()));
  }
  EXPECT_FALSE((RecordHeader{.length_and_flags = kTickBytes, .round = 1}.tick()));
}

TEST(RecordHeader, IsAllZeroInFreshMemory) {
  const RecordHeader header = unpack_header(0);
  EXPECT_EQ(header.length(), 0U);
  EXPECT_FALSE(header.pad() || header.stamped() || header.abandoned());
}

TEST(RecordGranules, CountTheHeaderAndRoundUp) {
  EXPECT_EQ(record_granules(0), 1U);
  EXPECT_EQ(record_granules(1), 2U);
  EXPECT_EQ(record_granules(8), 2U);
  EXPECT_EQ(record_granules(9), 3U);
  EXPECT_EQ(record_granules(1024), 129U);
}

}  // namespace
}  // namespace tutti
