// A log with a gap, before which and behind which it is cut. Each of these went wrong once; the
// random traces of crash_images_test.cpp found them.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/trace.hpp"

namespace tutti::log::testing {
namespace {

using tutti::testing::SimDisk;

class LogGaps : public ::testing::Test {
 protected:
  LogGaps() {
    write(5);
    write(5);
  }

  void write(std::uint64_t records, std::size_t bytes = 100) {
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < records; ++i) {
      entries.push_back(make_entry(writer_->next() + i, bytes, ++seed_));
    }
    Batch batch;
    add_all(batch, entries);
    ASSERT_TRUE(writer_->write(batch));
    expected_.append(entries);
  }

  void cut_to(std::uint64_t seq) {
    const auto cut = writer_->cut_to(seq);
    ASSERT_TRUE(cut) << cut.error().message;
    expected_.cut_to(seq);
  }

  void begin_at(std::uint64_t seq) {
    const auto begun = writer_->begin_at(seq);
    ASSERT_TRUE(begun) << begun.error().message;
    expected_.begin_at(seq);
  }

  void expect_log() {
    EXPECT_EQ(writer_->next(), expected_.next);
    EXPECT_EQ(writer_->digest(), expected_.digest);
    const auto found = read_contents(*disk_.after_power_loss(SimDisk::kNothingKept));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(difference(*found, expected_), "");
  }

  SimDisk disk_{};
  Expected expected_{};
  std::uint64_t seed_ = 0;
  std::unique_ptr<Writer> writer_ = open_writer(disk_, small_segments(1));
};

TEST_F(LogGaps, DoNotBringBackWhatWasCut) {
  cut_to(5);
  begin_at(12);
  expect_log();
  write(2);
  expect_log();
}

TEST_F(LogGaps, AreCutWithWhatIsBehindThem) {
  begin_at(15);
  write(2);
  cut_to(7);
  expect_log();
  write(4);
  expect_log();
}

TEST_F(LogGaps, EndTheLogBeforeThemIfTheyAreCut) {
  begin_at(15);
  write(2);
  cut_to(12);
  EXPECT_EQ(writer_->next(), 10U);
  expect_log();
  write(1);
  expect_log();
}

TEST_F(LogGaps, MayBeCutBehindAndThenBefore) {
  begin_at(15);
  write(2);
  cut_to(15);
  expect_log();
  cut_to(3);
  expect_log();
}

TEST_F(LogGaps, MayFollowEachOther) {
  begin_at(15);
  begin_at(20);
  begin_at(25);
  expect_log();
  write(1);
  writer_.reset();
  writer_ = open_writer(disk_, small_segments(2));
  ASSERT_NE(writer_, nullptr);
  expect_log();
  EXPECT_FALSE(writer_->begin_at(26));
  EXPECT_FALSE(writer_->begin_at(3));
  begin_at(27);
  expect_log();
}

TEST_F(LogGaps, BeginALogThatHasNothingYet) {
  disk_.erase(kDirectory + "/" + segment_name(0));
  writer_.reset();
  writer_ = open_writer(disk_, small_segments(3));
  ASSERT_NE(writer_, nullptr);
  expected_ = {};
  begin_at(1000);
  EXPECT_EQ(writer_->first(), 1000U);
  write(3);
  expect_log();
}

// Two logs that differ only in what comes before the gap are two logs.
TEST_F(LogGaps, DoNotHideWhatComesBeforeThem) {
  SimDisk disk;
  auto other = open_writer(disk, small_segments(2));
  ASSERT_NE(other, nullptr);
  for (Writer* writer : {writer_.get(), other.get()}) {
    ASSERT_TRUE(writer->begin_at(50));
    Batch batch;
    add_all(batch, {make_entry(50, 10, 1)});
    ASSERT_TRUE(writer->write(batch));
  }
  const auto one = read_log(disk_, kDirectory);
  const auto two = read_log(disk, kDirectory);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->next, two->next);
  EXPECT_NE(one->digest, two->digest);
}

// The segment that begins behind the gap is empty, and too small for the first batch.
TEST_F(LogGaps, StayIfSegmentsAreLargerFromThenOn) {
  begin_at(50);
  writer_.reset();
  WriterOptions larger = small_segments(4);
  larger.segment_bytes = 64 << 10;
  writer_ = open_writer(disk_, larger);
  ASSERT_NE(writer_, nullptr);
  write(2, 15'000);
  expect_log();
  writer_.reset();
  writer_ = open_writer(disk_, larger);
  ASSERT_NE(writer_, nullptr);
  expect_log();
  cut_to(7);
  expect_log();
}

TEST_F(LogGaps, AsideACutKeepsTheFirstPartOfABatchLargerThanSegmentsAreNow) {
  writer_.reset();
  WriterOptions larger = small_segments(5);
  larger.segment_bytes = 64 << 10;
  writer_ = open_writer(disk_, larger);
  ASSERT_NE(writer_, nullptr);
  write(4, 8000);
  writer_.reset();
  writer_ = open_writer(disk_, small_segments(6));
  ASSERT_NE(writer_, nullptr);
  cut_to(13);
  expect_log();
  write(2);
  expect_log();
  writer_.reset();
  writer_ = open_writer(disk_, small_segments(7));
  ASSERT_NE(writer_, nullptr);
  expect_log();
}

}  // namespace
}  // namespace tutti::log::testing
