// A log that is read on in pieces: each number once and in order, from any number on, over borders
// of segments and cuts, while its writer goes on, and without reading anything twice.
#include "log/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "support/sanitized.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/sample_log.hpp"
#include "unit/log/trace.hpp"

namespace tutti::log::testing {
namespace {

using ::testing::HasSubstr;
using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

std::vector<Entry> entries_of(const Batch& batch) {
  std::vector<Entry> out;
  batch.for_each([&](const Record& record) { out.push_back(entry_of(record)); });
  return out;
}

// What it has until there is nothing more before `until`, or the error.
Result<std::vector<Entry>> read_all(Stream& stream, std::size_t bytes, std::uint64_t until) {
  std::vector<Entry> out;
  for (;;) {
    Batch batch;
    if (const auto read = stream.read(bytes, until, batch); !read) {
      return std::unexpected(read.error());
    }
    if (batch.empty()) return out;
    EXPECT_TRUE(batch.records() == 1 || batch.bytes() <= bytes) << batch.bytes();
    for (Entry& entry : entries_of(batch)) out.push_back(std::move(entry));
    EXPECT_EQ(stream.next(), out.back().seq + 1);
  }
}

std::vector<Entry> between(const Expected& expected, std::uint64_t from, std::uint64_t until) {
  std::vector<Entry> out;
  for (const Entry& entry : expected.entries) {
    if (entry.seq >= from && entry.seq < until) out.push_back(entry);
  }
  return out;
}

class LogStream : public ::testing::Test {
 protected:
  void expect(std::uint64_t from, std::uint64_t until, std::size_t bytes) {
    Stream stream(log_.disk, kDirectory, from);
    const auto read = read_all(stream, bytes, until);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == between(log_.expected, from, until))
        << "from " << from << " until " << until << ": " << read->size() << " records";
  }
  std::string error_from(std::uint64_t from) {
    Stream stream(log_.disk, kDirectory, from);
    const auto read = read_all(stream, 1 << 20, kNoLimit);
    return read ? "none" : read.error().message;
  }

  SampleLog log_{};
  // It has the records from first_ to gap_ - 1, and from whole_ to next_ - 1.
  const std::uint64_t first_ = log_.writer->first();
  const std::uint64_t whole_ = log_.expected.begins.back();
  const std::uint64_t gap_ = whole_ - 5;
  const std::uint64_t next_ = log_.expected.next;
};

TEST_F(LogStream, GivesEachRecordOnceFromAnyNumberInPiecesOfAnySize) {
  ASSERT_GT(gap_, first_ + 20);
  for (std::uint64_t from = first_; from <= gap_; ++from) expect(from, gap_, 2000);
  for (const std::size_t bytes : {1U, 700U, 5000U, 1U << 20}) {
    expect(first_, gap_, bytes);
    expect(whole_, kNoLimit, bytes);
  }
  for (std::uint64_t until = first_; until <= gap_; ++until) expect(first_, until, 3000);
}

TEST_F(LogStream, SaysWhatTheLogDoesNotHave) {
  EXPECT_THAT(error_from(0), HasSubstr("record 0 any more: it begins at number"));
  EXPECT_THAT(error_from(gap_ + 2), HasSubstr("goes on at number " + std::to_string(whole_)));
  Stream stream(log_.disk, kDirectory, first_);
  EXPECT_FALSE(read_all(stream, 3000, kNoLimit)) << "it goes over a gap";
  EXPECT_TRUE(read_all(stream, 3000, stream.next())) << "nothing was asked for";
  EXPECT_EQ(stream.next(), gap_);
  Stream elsewhere(log_.disk, "/state/other", 0);
  Batch batch;
  EXPECT_FALSE(elsewhere.read(1, 1, batch));
  const auto found = whole_from(log_.disk, kDirectory);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, whole_);
}

TEST_F(LogStream, GoesOnWhereALogIsCutBehindIt) {
  for (std::uint64_t at = first_; at + 1 < gap_; at += 3) {
    SampleLog log;
    Stream stream(log.disk, kDirectory, first_);
    const auto before = read_all(stream, 1500, at);
    ASSERT_TRUE(before);
    Batch some;  // so that it has seen what is cut
    ASSERT_TRUE(stream.read(1, kNoLimit, some));
    ASSERT_TRUE(log.writer->cut_to(at + 1));
    log.expected.cut_to(at + 1);
    Prng random(at);
    for (int i = 0; i < 10; ++i) log.write(random);
    const auto behind = read_all(stream, 1500, kNoLimit);
    ASSERT_TRUE(behind) << behind.error().message;
    EXPECT_TRUE(*behind == between(log.expected, at + 1, kNoLimit)) << "cut at " << at + 1;
  }
}

constexpr std::size_t kFewer = tutti::testing::kSanitized ? 7 : 1;  // bytes are changed

// P5: a byte is changed, alone. What is read is what was written, and what is not read is an
// error; but for the last batch, of which nothing says that it was synced.
class FlippedStream : public LogStream {
 protected:
  void flip_all(std::uint64_t from, std::uint64_t until) {
    constexpr std::array<int, 4> kMasks{0x01, 0x80, 0xff, 0x20};
    due_ = between(log_.expected, from, until);
    for (const std::string& path : log_.segments()) {
      std::vector<std::byte> bytes = log_.disk.contents(path);
      for (std::size_t at = 0; at < bytes.size(); at += 3 * kFewer) {
        const auto mask = static_cast<std::byte>(kMasks[at % kMasks.size()]);
        bytes[at] ^= mask;
        log_.disk.put(path, bytes);
        bytes[at] ^= mask;
        SCOPED_TRACE(path + ", offset " + std::to_string(at));
        judge(from, until);
        if (HasFailure()) return;
      }
      log_.disk.put(path, bytes);
    }
  }

  void judge(std::uint64_t from, std::uint64_t until) {
    Stream stream(log_.disk, kDirectory, from);
    std::vector<Entry> read;
    Result<void> result;
    do {
      Batch batch;
      result = stream.read(4000, until, batch);
      for (Entry& entry : entries_of(batch)) read.push_back(std::move(entry));
      if (batch.empty()) break;
    } while (result);
    ASSERT_LE(read.size(), due_.size());
    ASSERT_TRUE(std::equal(read.begin(), read.end(), due_.begin())) << "other content";
    if (!result) {
      ++errors_;
    } else if (read.size() == due_.size()) {
      ++whole_read_;
    } else {
      ++cut_;
      ASSERT_EQ(until, next_);
      ASSERT_EQ(read.size() + 3, due_.size()) << "more is missing than the last batch";
    }
  }

  std::vector<Entry> due_{};
  std::size_t errors_ = 0;
  std::size_t whole_read_ = 0;
  std::size_t cut_ = 0;
};

TEST_F(FlippedStream, BeforeAGapGivesNothingElse) {
  flip_all(first_, gap_);
  EXPECT_GT(errors_, 7000U / kFewer);
  EXPECT_GT(whole_read_, 3000U / kFewer);
  EXPECT_EQ(cut_, 0U);
}

TEST_F(FlippedStream, AtTheEndGivesNothingElse) {
  log_.writer.reset();
  flip_all(whole_, next_);
  EXPECT_GT(errors_, 1000U / kFewer);
  EXPECT_GT(whole_read_, 3000U / kFewer);
  EXPECT_GT(cut_, 30U / kFewer);
}

class LongLog : public ::testing::Test {
 protected:
  void write(std::uint64_t records, std::size_t bytes) {
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < records; ++i) {
      entries.push_back(make_entry(writer_->next() + i, bytes, writer_->next() + i));
    }
    Batch batch;
    add_all(batch, entries);
    const auto written = writer_->write(batch);
    ASSERT_TRUE(written) << written.error().message;
  }
  // Checks what it reads next.
  void read(Stream& stream, std::size_t bytes, std::uint64_t until = kNoLimit) {
    const std::uint64_t from = stream.next();
    Batch batch;
    const auto result = stream.read(bytes, until, batch);
    ASSERT_TRUE(result) << result.error().message;
    std::uint64_t seq = from;
    batch.for_each([&](const Record& record) {
      EXPECT_EQ(entry_of(record), make_entry(seq, record.data.size(), seq));
      ++seq;
    });
    EXPECT_EQ(stream.next(), seq);
  }

  SimDisk disk_{};
  std::unique_ptr<Writer> writer_{};
};

// RS3.
TEST_F(LongLog, IsReadOnceAndNeverAsAWhole) {
  WriterOptions options = small_segments(1);
  options.segment_bytes = 8 << 20;
  writer_ = open_writer(disk_, options);
  while (writer_->next() < 150'000) write(900, 64);
  std::uint64_t bytes = 0;
  std::uint64_t most = 0;
  disk_.on_operation([&](const DiskOperation& operation) {
    if (operation.step != DiskStep::read) return DiskFate::done;
    bytes += operation.bytes;
    most = std::max(most, operation.bytes);
    return DiskFate::done;
  });
  Stream stream(disk_, kDirectory, 0);
  std::uint64_t pieces = 0;
  for (; stream.next() < writer_->next(); ++pieces) read(stream, 32 << 10, writer_->next());
  EXPECT_GT(pieces, 400U);
  EXPECT_LE(most, 1U << 20);
  const std::uint64_t written = 150'000 * bytes_of_record(64);
  EXPECT_LT(bytes, 2 * written + pieces * 2 * kHeaderBytes) << written << " were written";
}

TEST_F(LongLog, MayHaveManySegmentsInOnePiece) {
  writer_ = open_writer(disk_, small_segments(1));
  const auto segments = [&] { return list_segments(disk_, kDirectory)->live.size(); };
  while (segments() < 300) write(1, 1500);
  Stream stream(disk_, kDirectory, 0);
  read(stream, 8 << 20, writer_->next());
  EXPECT_EQ(stream.next(), writer_->next());
}

TEST_F(LongLog, MayHaveBatchesAndRecordsLargerThanAWindow) {
  WriterOptions options = small_segments(1);
  options.segment_bytes = 16 << 20;
  writer_ = open_writer(disk_, options);
  write(4000, 1000);
  write(2, 3 << 20);
  write(3, 10);
  Stream stream(disk_, kDirectory, 0);
  while (stream.next() < writer_->next()) read(stream, 100'000);
}

// At each read of a file something more is written, and now and then cut behind the stream.
TEST_F(LongLog, IsReadWhileItsWriterGoesOn) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SimDisk disk;
    writer_ = open_writer(disk, small_segments(seed));
    Prng random(seed);
    Stream stream(disk, kDirectory, 0);
    bool changing = false;
    int left = 0;  // so many times in one call: the reader is faster than that
    disk.on_operation([&](const DiskOperation& operation) {
      const bool reads = operation.step == DiskStep::read || operation.step == DiskStep::list;
      if (!reads || changing || left == 0 || random.one_in(2)) return DiskFate::done;
      --left;
      changing = true;
      for (std::uint64_t i = random.below(4); i != 0; --i) {
        write(1 + random.below(5), random.below(1500));
        if (random.one_in(3)) {
          EXPECT_TRUE(writer_->rest());
        }
      }
      changing = false;
      return DiskFate::done;
    });
    while (stream.next() < 600) {
      left = 3;
      read(stream, random.below(9000), random.one_in(4) ? stream.next() + 3 : kNoLimit);
      if (HasFatalFailure()) return;
      if (!random.one_in(5) || writer_->next() <= stream.next()) continue;
      changing = true;
      const std::uint64_t rest = writer_->next() - stream.next();
      ASSERT_TRUE(writer_->cut_to(stream.next() + random.below(rest)));
      if (random.one_in(2)) {
        ASSERT_TRUE(writer_->release_before(stream.next()));
      }
      changing = false;
    }
    disk.on_operation({});
    while (stream.next() < writer_->next()) read(stream, 9000);
    EXPECT_EQ(stream.next(), writer_->next());
    writer_.reset();
  }
}

TEST_F(LongLog, SaysWhatTheDiskSays) {
  writer_ = open_writer(disk_, small_segments(1));
  write(3, 100);
  Stream stream(disk_, kDirectory, 0);
  disk_.on_operation([](const DiskOperation& operation) {
    return operation.step == DiskStep::read && operation.offset != 0 ? DiskFate::io_error
                                                                     : DiskFate::done;
  });
  Batch batch;
  const auto read = stream.read(1000, kNoLimit, batch);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("00000000000000000000.log"));
}

}  // namespace
}  // namespace tutti::log::testing
