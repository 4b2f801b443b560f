// The disk that the other tests of this folder rely on: it must lose what may be lost.
#include "support/sim_disk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tutti::log::testing {
namespace {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

std::vector<std::byte> filled(std::size_t bytes, int with) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(with));
}

// A directory with file "a", of 2,048 durable bytes 1.
class SimDiskTest : public ::testing::Test {
 protected:
  SimDiskTest() {
    EXPECT_TRUE(disk_.make_directory("/d"));
    disk_.put("/d/a", filled(2048, 1));
    file_ = disk_.open("/d/a", Access::write).value();
  }

  SimDisk disk_;
  std::unique_ptr<File> file_;
};

TEST_F(SimDiskTest, KeepsWhatWasSyncedInEveryImage) {
  ASSERT_TRUE(file_->write(0, filled(2048, 2)));
  ASSERT_TRUE(file_->sync());
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(disk_.after_power_loss(seed)->contents("/d/a"), filled(2048, 2));
  }
}

TEST_F(SimDiskTest, LosesSectorsOfAWriteInAnyOrderAndTearsThem) {
  ASSERT_TRUE(file_->write(0, filled(2048, 2)));
  std::set<std::string> patterns;
  bool torn = false;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto left = disk_.after_power_loss(seed)->contents("/d/a");
    ASSERT_EQ(left.size(), 2048U);
    std::string pattern;
    for (std::size_t sector = 0; sector < 4; ++sector) {
      const auto begin = left.begin() + static_cast<std::ptrdiff_t>(512 * sector);
      const auto twos = std::count(begin, begin + 512, std::byte{2});
      ASSERT_EQ(std::count(begin, begin + 512, std::byte{1}) + twos, 512);
      torn = torn || (twos != 0 && twos != 512);
      pattern += twos == 512 ? '2' : '1';
    }
    patterns.insert(pattern);
  }
  EXPECT_EQ(patterns.size(), 16U);
  EXPECT_TRUE(torn);
  EXPECT_EQ(disk_.after_power_loss(SimDisk::kNothingKept)->contents("/d/a"), filled(2048, 1));
  EXPECT_EQ(disk_.after_power_loss(SimDisk::kAllKept)->contents("/d/a"), filled(2048, 2));
}

TEST_F(SimDiskTest, LosesTheLengthOfAFileOrItsData) {
  ASSERT_TRUE(file_->write(2048, filled(1024, 2)));
  std::set<std::size_t> lengths;
  bool zeros = false;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto left = disk_.after_power_loss(seed)->contents("/d/a");
    lengths.insert(left.size());
    zeros = zeros || (left.size() == 3072 && left[2048] == std::byte{0});
  }
  EXPECT_TRUE(lengths.contains(2048) && lengths.contains(3072));
  EXPECT_TRUE(zeros);
}

TEST_F(SimDiskTest, LosesEntriesIndependentlyUntilTheDirectoryIsSynced) {
  ASSERT_TRUE(disk_.create("/d/b"));
  ASSERT_TRUE(disk_.rename("/d/a", "/d/c"));
  const auto seen = [&] {
    std::set<std::vector<std::string>> all;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      all.insert(disk_.after_power_loss(seed)->list("/d").value());
    }
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(seen(), (std::set<Names>{{"a"}, {"a", "b"}, {"b", "c"}, {"c"}}));
  ASSERT_TRUE(disk_.sync_directory("/d"));
  EXPECT_EQ(seen(), (std::set<Names>{{"b", "c"}}));
  ASSERT_TRUE(disk_.remove("/d/b"));
  EXPECT_EQ(seen(), (std::set<Names>{{"b", "c"}, {"c"}}));
}

TEST_F(SimDiskTest, MayLoseADirectoryUntilItIsMadeAgainOrItsParentWasSynced) {
  disk_.on_operation([](const DiskOperation& operation) {
    return operation.step == DiskStep::sync_directory ? DiskFate::io_error : DiskFate::done;
  });
  EXPECT_FALSE(disk_.make_directory("/e"));
  disk_.on_operation({});
  EXPECT_TRUE(disk_.list("/e"));
  ASSERT_TRUE(disk_.create("/e/a"));
  ASSERT_TRUE(disk_.sync_directory("/e"));
  EXPECT_FALSE(disk_.after_power_loss(SimDisk::kNothingKept)->list("/e"));
  EXPECT_TRUE(disk_.after_power_loss(SimDisk::kAllKept)->has("/e/a"));
  ASSERT_TRUE(disk_.make_directory("/e"));
  EXPECT_TRUE(disk_.after_power_loss(SimDisk::kNothingKept)->has("/e/a"));
}

TEST_F(SimDiskTest, DropsWhatASyncThatFailedShouldHaveKept) {
  ASSERT_TRUE(file_->write(0, filled(512, 2)));
  disk_.on_operation([](const DiskOperation& operation) {
    return operation.step == DiskStep::sync ? DiskFate::io_error : DiskFate::done;
  });
  EXPECT_FALSE(file_->sync());
  disk_.on_operation({});
  EXPECT_TRUE(file_->sync());
  EXPECT_EQ(disk_.contents("/d/a")[0], std::byte{2});
  EXPECT_EQ(disk_.after_power_loss(SimDisk::kAllKept)->contents("/d/a"), filled(2048, 1));
}

TEST_F(SimDiskTest, GivesTheNextProcessWhatIsNotSyncedYet) {
  ASSERT_TRUE(file_->write(0, filled(2048, 2)));
  ASSERT_TRUE(disk_.create("/d/b"));
  const auto next = disk_.after_process_end();
  EXPECT_EQ(next->contents("/d/a"), filled(2048, 2));
  EXPECT_EQ(next->after_power_loss(SimDisk::kNothingKept)->contents("/d/a"), filled(2048, 1));
  EXPECT_TRUE(next->has("/d/b"));
  EXPECT_FALSE(next->after_power_loss(SimDisk::kNothingKept)->has("/d/b"));
  const auto file = next->open("/d/a", Access::write);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->sync());
  EXPECT_EQ(next->after_power_loss(SimDisk::kNothingKept)->contents("/d/a"), filled(2048, 2));
  EXPECT_EQ(disk_.after_power_loss(SimDisk::kNothingKept)->contents("/d/a"), filled(2048, 1));
}

TEST_F(SimDiskTest, WritesAPartWhenNoSpaceIsLeft) {
  disk_.on_operation([](const DiskOperation&) { return DiskFate::no_space; });
  const auto written = file_->write(2048, filled(1024, 2));
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/d/a"), std::string::npos);
  EXPECT_EQ(disk_.contents("/d/a").size(), 2560U);
}

TEST_F(SimDiskTest, HasOneLockForADirectory) {
  auto held = disk_.lock("/d/LOCK");
  ASSERT_TRUE(held);
  EXPECT_FALSE(disk_.lock("/d/LOCK"));
  EXPECT_TRUE(disk_.after_power_loss(SimDisk::kAllKept)->lock("/d/LOCK"));
  held->reset();
  EXPECT_TRUE(disk_.lock("/d/LOCK"));
}

}  // namespace
}  // namespace tutti::log::testing
