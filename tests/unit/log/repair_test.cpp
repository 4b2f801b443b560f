// A damaged log that is repaired: all records before the damage stay, nothing else comes, what was
// there is kept beside it, and the power may be lost at each step of it (P9, P10).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "log/read.hpp"
#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/sample_log.hpp"

namespace tutti::log::testing {
namespace {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::SimDisk;

WriterOptions repairing(std::uint64_t seed) {
  WriterOptions options = small_segments(seed);
  options.repair = true;
  return options;
}

std::vector<Entry> readable(const SimDisk& disk) {
  const auto found = read_contents(disk);
  EXPECT_TRUE(found) << found.error().message;
  return found ? found->entries : std::vector<Entry>{};
}

// Repairs, and reads back: the same records, no damage, and it can be written on.
void expect_repaired(SimDisk& disk, const std::vector<Entry>& stay, std::uint64_t seed) {
  auto writer = open_writer(disk, repairing(seed));
  ASSERT_NE(writer, nullptr);
  std::vector<Entry> now = stay;
  now.push_back(make_entry(writer->next(), 40, seed));
  Batch batch;
  batch.add(record_of(now.back()));
  ASSERT_TRUE(writer->write(batch));
  const auto found = read_contents(*disk.after_power_loss(SimDisk::kNothingKept));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->reading.damage) << to_string(*found->reading.damage);
  EXPECT_TRUE(found->entries == now) << found->entries.size() << " of " << now.size();
  writer.reset();
  EXPECT_NE(open_writer(disk, small_segments(seed + 1)), nullptr);
}

// Flips a byte, repairs, and loses the power at each operation on the way.
void repair_after_flip(const SampleLog& log, const std::string& path, std::uint64_t at,
                       int& repaired) {
  SCOPED_TRACE(path + ", offset " + std::to_string(at));
  const auto disk = log.disk.after_power_loss(SimDisk::kAllKept);
  auto bytes = disk->contents(path);
  bytes[at] ^= std::byte{0x10};
  disk->put(path, bytes);
  const auto before = read_contents(*disk);
  ASSERT_TRUE(before);
  if (!before->reading.damage) return;  // the byte means nothing
  ++repaired;
  const std::vector<Entry> stay = before->entries;
  std::uint64_t seed = at;
  disk->on_operation([&](const DiskOperation& operation) {
    if (operation.changes() && !::testing::Test::HasFailure()) {
      SCOPED_TRACE("step " + std::to_string(static_cast<int>(operation.step)) + " of " +
                   operation.path);
      for (const std::uint64_t image : {SimDisk::kNothingKept, SimDisk::kAllKept, ++seed, ++seed}) {
        const auto left = disk->after_power_loss(image);
        EXPECT_TRUE(readable(*left) == stay) << "image " << image;
        expect_repaired(*left, stay, image);
      }
    }
    return DiskFate::done;
  });
  const auto writer = open_writer(*disk, repairing(seed));
  disk->on_operation({});
  ASSERT_NE(writer, nullptr);
  EXPECT_FALSE(writer->recovered().kept.empty());
  for (const std::string& kept : writer->recovered().kept) EXPECT_TRUE(disk->has(kept)) << kept;
}

TEST(Repair, KeepsWhatIsBeforeTheDamageAndGoesOn) {
  SampleLog log;
  log.writer.reset();
  int repaired = 0;
  for (const std::string& path : log.segments()) {
    for (const std::uint64_t at : {0, 20, 4000, 4096, 4100, 4500, 6000, 9001, 12000}) {
      repair_after_flip(log, path, at, repaired);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(repaired, 25) << "of 36; the other bytes mean nothing, or are in the last batch";
}

// The remains of it must not be taken for another one once a mark, or a batch, is written over it.
TEST(Repair, KeepsABrokenTailOnceAndForGood) {
  SampleLog log;
  log.writer.reset();
  const auto whole = read_contents(log.disk);
  ASSERT_TRUE(whole);
  const SegmentFile& last = whole->reading.segments.back();
  auto bytes = log.disk.contents(last.path);
  bytes[last.content.last + 20] ^= std::byte{0x10};
  log.disk.put(last.path, bytes);
  const std::vector<std::byte> tail(bytes.begin() + static_cast<std::ptrdiff_t>(last.content.last),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(last.content.end));
  auto writer = open_writer(log.disk, small_segments(9));
  ASSERT_NE(writer, nullptr);
  EXPECT_EQ(writer->recovered().tail, Tail::broken);
  ASSERT_EQ(writer->recovered().kept.size(), 1U);
  const std::string kept = writer->recovered().kept[0];
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(log.disk.contents(kept) == tail);
    if (i == 1) {
      ASSERT_TRUE(writer->close());
    }
    writer.reset();
    writer = open_writer(log.disk, small_segments(10));
    ASSERT_NE(writer, nullptr);
    EXPECT_EQ(writer->recovered().tail, Tail::clean);
    EXPECT_TRUE(writer->recovered().kept.empty());
  }
}

TEST(Repair, ReplacesNothingThatAnEarlierOneKept) {
  SampleLog log;
  log.writer.reset();
  const auto flip = [&](const std::string& path, std::uint64_t at) {
    auto bytes = log.disk.contents(path);
    bytes[at] ^= std::byte{0x10};
    log.disk.put(path, bytes);
  };
  const auto segments = log.segments();
  flip(segments.back(), 4100);
  std::vector<std::string> paths;
  std::vector<std::vector<std::byte>> contents;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto writer = open_writer(log.disk, repairing(20 + i));
    ASSERT_NE(writer, nullptr);
    EXPECT_FALSE(writer->recovered().kept.empty());
    for (const std::string& kept : writer->recovered().kept) {
      EXPECT_EQ(std::ranges::find(paths, kept), paths.end()) << kept;
      paths.push_back(kept);
      contents.push_back(log.disk.contents(kept));
    }
    Batch batch;
    batch.add(record_of(make_entry(writer->next(), 40, i)));
    ASSERT_TRUE(writer->write(batch));
    flip(log.segments().back(), 100);  // its header: as if it had not been there
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_TRUE(log.disk.contents(paths[i]) == contents[i]) << paths[i];
  }
}

TEST(Repair, OfALogThatIsWholeChangesNothing) {
  SampleLog log;
  log.writer.reset();
  const auto whole = readable(log.disk);
  const auto writer = open_writer(log.disk, repairing(1));
  ASSERT_NE(writer, nullptr);
  EXPECT_TRUE(writer->recovered().kept.empty());
  EXPECT_TRUE(readable(log.disk) == whole);
}

}  // namespace
}  // namespace tutti::log::testing
