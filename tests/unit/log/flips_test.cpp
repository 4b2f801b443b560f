// P5, G11: each byte of each file of a log is changed, alone. Either the log reads as before, for
// the byte means nothing; or the damage is reported, with the file and where it is; or it is in the
// last batch, which nothing says was synced, and is cut as a torn tail. Other records are never
// read. TUTTI_CRASH_IMAGES=N tries N ways to change each byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "log/read.hpp"
#include "support/sanitized.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/sample_log.hpp"

namespace tutti::log::testing {
namespace {

constexpr std::array<int, 5> kMasks{0x01, 0x80, 0xff, 0x20, 0x5a};

// With a sanitizer every 21st byte is changed, which comes by every field, for records are at
// multiples of 8.
constexpr std::size_t kStride = tutti::testing::kSanitized ? 21 : 1;

std::size_t masks_for_each_byte() {
  std::size_t number = 1;
  if (const char* wish = std::getenv("TUTTI_CRASH_IMAGES")) {
    std::from_chars(wish, wish + std::strlen(wish), number);
  }
  return std::min(number, kMasks.size());
}

// What a reader makes of the log, without copies of the records.
struct Read {
  Result<Reading> reading = fail(ErrorCode::system, "");
  std::size_t records = 0;
  bool others = false;
};

bool is(const Record& record, const Entry& entry) {
  return record.seq == entry.seq && record.view == entry.view && record.sender == entry.sender &&
         record.tick == entry.tick && std::ranges::equal(record.data, entry.data);
}

Read read_against(const Disk& disk, const std::vector<Entry>& entries) {
  Read out;
  out.reading = read_log(disk, kDirectory, [&](const Record& record, std::uint64_t) {
    out.others = out.others || out.records >= entries.size() || !is(record, entries[out.records]);
    ++out.records;
    return true;
  });
  return out;
}

// Calls what(file, offset) with each byte changed.
void for_each_flip(SampleLog& log,
                   const std::function<void(const std::string&, std::uint64_t)>& what) {
  for (const std::string& path : log.segments()) {
    std::vector<std::byte> bytes = log.disk.contents(path);
    for (std::size_t at = 0; at < bytes.size(); at += kStride) {
      for (std::size_t i = 0; i < masks_for_each_byte(); ++i) {
        const auto mask = static_cast<std::byte>(kMasks[(at + i) % kMasks.size()]);
        bytes[at] ^= mask;
        log.disk.put(path, bytes);
        what(path, at);
        bytes[at] ^= mask;
        if (::testing::Test::HasFailure()) return;
      }
    }
    log.disk.put(path, bytes);
  }
}

class Flips {
 public:
  explicit Flips(SampleLog& log) : log_(log) {
    Result<Contents> whole = read_contents(log.disk);
    EXPECT_TRUE(whole);
    EXPECT_EQ(difference(*whole, log.expected), "");
    whole_ = std::move(*whole);
    // The last batch begins behind the second to last of the last segment.
    const SegmentFile& last = whole_.reading.segments.back();
    last_file_ = last.path;
    marked_ = last.content.marked;
  }

  void run() {
    for_each_flip(log_, [&](const std::string& path, std::uint64_t at) { judge(path, at); });
  }

  std::uint64_t damaged = 0;
  std::uint64_t dead = 0;
  std::uint64_t cut = 0;

 private:
  void judge(const std::string& path, std::uint64_t at) {
    const Read read = read_against(log_.disk, whole_.entries);
    SCOPED_TRACE(path + ", offset " + std::to_string(at));
    ASSERT_TRUE(read.reading) << read.reading.error().message;
    ASSERT_FALSE(read.others) << "other content";
    const Reading& reading = *read.reading;
    const Reading& whole = whole_.reading;
    if (reading.damage) {
      ++damaged;
      EXPECT_EQ(reading.damage->file, path);
      EXPECT_LE(reading.damage->offset, at);
      EXPECT_GT(reading.damage->offset + (8 << 10), at) << "far from the byte";
      EXPECT_EQ(reading.damage->seq, reading.next);
      EXPECT_FALSE(reading.damage->what.empty());
      const auto lost = std::ranges::lower_bound(whole_.entries, reading.next, {}, &Entry::seq);
      EXPECT_EQ(read.records, static_cast<std::size_t>(lost - whole_.entries.begin()));
    } else if (reading.next == whole.next) {
      ++dead;
      EXPECT_EQ(reading.digest, whole.digest);
      EXPECT_EQ(reading.first, whole.first);
      EXPECT_EQ(read.records, whole_.entries.size());
    } else {
      ++cut;
      EXPECT_FALSE(marked_) << "cut off, but it was marked as synced";
      EXPECT_EQ(path, last_file_);
      EXPECT_EQ(reading.next, whole.next - 3) << "more is cut than the last batch";
      EXPECT_EQ(read.records, whole_.entries.size() - 3);
      const SegmentContent& content = reading.segments.back().content;
      EXPECT_TRUE(content.tail == Tail::broken || content.tail == Tail::torn);
      EXPECT_FALSE(content.what.empty());
    }
  }

  SampleLog& log_;
  Contents whole_{};
  std::string last_file_{};
  bool marked_ = false;
};

TEST(Flips, OfALogThatWasClosedAreDamageOrChangeNothing) {
  SampleLog log;
  ASSERT_TRUE(log.writer->close());
  Flips flips(log);
  flips.run();
  EXPECT_GT(flips.damaged, 30'000U / kStride);
  EXPECT_GT(flips.dead, 0U);
  EXPECT_EQ(flips.cut, 0U);
}

TEST(Flips, OfALogThatStoppedCutAtMostTheLastBatch) {
  SampleLog log;
  log.writer.reset();
  Flips flips(log);
  flips.run();
  EXPECT_GT(flips.damaged, 30'000U / kStride);
  EXPECT_GT(flips.cut, 100U / kStride);
}

}  // namespace
}  // namespace tutti::log::testing
