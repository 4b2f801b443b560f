// The log's writer on a real directory: what it appends is read back, after rotation, release, cuts
// and gaps.
#include "log/writer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace tutti::log {
namespace {

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-log-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    directory_ = root_ + "/a/b";
  }
  ~WriterTest() override { std::filesystem::remove_all(root_); }

  std::unique_ptr<Writer> open() {
    Result<std::unique_ptr<Writer>> writer =
        Writer::open(*disk_, directory_, {.node = "n", .group = "g"}, {.segment_bytes = 16 * 1024});
    EXPECT_TRUE(writer) << (writer ? "" : writer.error().message);
    return writer ? std::move(*writer) : nullptr;
  }
  // Records of that many bytes, each with its number in it.
  void write(Writer& writer, std::uint64_t records, std::size_t bytes = 100) {
    Batch batch;
    for (std::uint64_t i = 0; i < records; ++i) {
      const std::string text = text_of(writer.next() + i, bytes);
      batch.add({.seq = writer.next() + i,
                 .view = 3,
                 .sender = 1,
                 .tick = false,
                 .data = std::as_bytes(std::span(text))});
    }
    const Result<void> done = writer.write(batch);
    EXPECT_TRUE(done) << done.error().message;
  }
  static std::string text_of(std::uint64_t seq, std::size_t bytes) {
    std::string text = std::to_string(seq);
    text.resize(bytes, 'x');
    return text;
  }
  // The numbers that the log has; all with the right content.
  std::vector<std::uint64_t> numbers(Reading* reading = nullptr) {
    std::vector<std::uint64_t> out;
    const Result<Reading> read =
        read_log(*disk_, directory_, [&](const Record& record, std::uint64_t) {
          out.push_back(record.seq);
          const std::string text(reinterpret_cast<const char*>(record.data.data()),
                                 record.data.size());
          EXPECT_EQ(text, text_of(record.seq, record.data.size()));
          EXPECT_EQ(record.view, 3U);
          EXPECT_EQ(record.sender, 1U);
          return true;
        });
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    if (read && reading != nullptr) *reading = *read;
    if (read && reading == nullptr) {
      EXPECT_FALSE(read->damage.has_value()) << to_string(*read->damage);
    }
    return out;
  }
  static std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> out;
    for (; from < to; ++from) out.push_back(from);
    return out;
  }

  std::unique_ptr<Disk> disk_ = posix_disk();
  std::string root_;
  std::string directory_;
};

TEST_F(WriterTest, WhatIsWrittenIsReadBackOverSegmentsAndRestarts) {
  std::uint64_t digest = 0;
  for (int run = 0; run < 5; ++run) {
    const std::unique_ptr<Writer> writer = open();
    ASSERT_NE(writer, nullptr);
    EXPECT_EQ(writer->next(), static_cast<std::uint64_t>(run) * 200);
    EXPECT_EQ(writer->digest(), digest);
    EXPECT_EQ(writer->recovered().tail, Tail::clean);
    for (int i = 0; i < 20; ++i) {
      write(*writer, 10);
      if (i % 3 == 0) {
        ASSERT_TRUE(writer->rest());
        ASSERT_TRUE(writer->prepare(4096));
      }
    }
    EXPECT_EQ(numbers(), range(0, writer->next()));
    digest = writer->digest();
    if (run % 2 == 0) {
      ASSERT_TRUE(writer->close());
    }
  }
  Reading reading;
  EXPECT_EQ(numbers(&reading), range(0, 1000));
  EXPECT_GT(reading.segments.size(), 8U);
  EXPECT_EQ(reading.digest, digest);
}

TEST_F(WriterTest, OpeningShowsWhatIsInTheLog) {
  {
    const std::unique_ptr<Writer> writer = open();
    for (int i = 0; i < 50; ++i) write(*writer, 10);
    ASSERT_TRUE(writer->cut_to(333));
  }
  std::vector<std::uint64_t> found;
  const auto see = [&](const Record& record) { found.push_back(record.seq); };
  const Result<std::unique_ptr<Writer>> writer = Writer::open(
      *disk_, directory_, {.node = "n", .group = "g"}, {.segment_bytes = 16 * 1024, .found = see});
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_EQ(found, range(0, 333));
  EXPECT_EQ(found, numbers());
}

TEST_F(WriterTest, SegmentsThatAreReleasedAreUsedAgain) {
  const std::unique_ptr<Writer> writer = open();
  for (int i = 0; i < 200; ++i) {
    write(*writer, 10);
    ASSERT_TRUE(
        writer->release_before(writer->next() - std::min<std::uint64_t>(writer->next(), 50)));
  }
  EXPECT_EQ(numbers(), range(writer->first(), 2000));
  EXPECT_GE(writer->first(), 1950U - 200U);
  EXPECT_LE(disk_->list(directory_)->size(), 6U);
}

TEST_F(WriterTest, ALogIsCutAnywhere) {
  for (std::uint64_t cut : {995U, 990U, 700U, 333U, 100U, 5U, 0U}) {
    std::unique_ptr<Writer> writer = open();
    while (writer->next() < 1000) write(*writer, 10);
    const Result<void> done = writer->cut_to(cut);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(writer->next(), cut);
    EXPECT_EQ(numbers(), range(0, cut));
    write(*writer, 3);
    writer = nullptr;
    writer = open();
    ASSERT_NE(writer, nullptr);
    EXPECT_EQ(writer->next(), cut + 3);
    EXPECT_EQ(numbers(), range(0, cut + 3));
  }
}

TEST_F(WriterTest, ALogGoesOnBehindAGap) {
  std::unique_ptr<Writer> writer = open();
  ASSERT_TRUE(writer->begin_at(10));
  EXPECT_EQ(writer->first(), 10U);
  write(*writer, 5);
  ASSERT_TRUE(writer->begin_at(100));
  write(*writer, 5);
  writer = nullptr;
  writer = open();
  ASSERT_NE(writer, nullptr);
  EXPECT_EQ(writer->next(), 105U);
  Reading reading;
  std::vector<std::uint64_t> expected = range(10, 15);
  for (const std::uint64_t seq : range(100, 105)) expected.push_back(seq);
  EXPECT_EQ(numbers(&reading), expected);
  EXPECT_EQ(reading.first, 10U);
  EXPECT_EQ(reading.whole_from, 100U);
  EXPECT_FALSE(writer->begin_at(105));
}

TEST_F(WriterTest, WhatWasCutBeforeAGapStaysCut) {
  for (const std::uint64_t cut : {0U, 4U, 7U, 10U}) {
    std::filesystem::remove_all(directory_);
    std::unique_ptr<Writer> writer = open();
    write(*writer, 4);
    write(*writer, 6);
    ASSERT_TRUE(writer->cut_to(cut));
    ASSERT_TRUE(writer->begin_at(100));
    write(*writer, 5);
    writer = nullptr;
    std::vector<std::uint64_t> expected = range(0, cut);
    for (const std::uint64_t seq : range(100, 105)) expected.push_back(seq);
    Reading reading;
    EXPECT_EQ(numbers(&reading), expected);
    EXPECT_FALSE(reading.damage);
    writer = open();
    ASSERT_NE(writer, nullptr);
    EXPECT_EQ(writer->next(), 105U);
  }
}

}  // namespace
}  // namespace tutti::log
