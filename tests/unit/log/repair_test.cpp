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
void repair_after_flip(const SampleLog& log, const std::string& path, std::uint64_t at) {
  SCOPED_TRACE(path + ", offset " + std::to_string(at));
  const auto disk = log.disk.after_power_loss(SimDisk::kAllKept);
  auto bytes = disk->contents(path);
  bytes[at] ^= std::byte{0x10};
  disk->put(path, bytes);
  const auto before = read_contents(*disk);
  ASSERT_TRUE(before);
  if (!before->reading.damage) return;
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
  for (const std::string& path : log.segments()) {
    for (const std::uint64_t at : {0, 20, 4000, 4096, 4100, 4500, 6000, 9001, 12000}) {
      repair_after_flip(log, path, at);
      if (::testing::Test::HasFailure()) return;
    }
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
