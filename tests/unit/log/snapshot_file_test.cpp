// The file of a snapshot: what is read is what was written, or an error, whatever byte has changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/log/snapshot_samples.hpp"

namespace tutti::log::testing {
namespace {

using ::testing::HasSubstr;
using tutti::testing::SimDisk;

const std::string kPath = kSnapshotFolder + "/s";

class SnapshotFiles : public ::testing::Test {
 protected:
  SnapshotFiles() { EXPECT_TRUE(disk_.make_directory(kSnapshotFolder)); }
  std::vector<std::byte> write(std::size_t size, std::uint64_t salt = 5) {
    const std::vector<std::byte> state = some_state(size, size + salt);
    EXPECT_TRUE(write_snapshot(disk_, kPath, 9, state, salt));
    return state;
  }
  SimDisk disk_;
};

TEST_F(SnapshotFiles, GiveBackStatesOfAnySize) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kBlockDataBytes - 1, kBlockDataBytes, kBlockDataBytes + 1,
        3 * kBlockDataBytes, std::size_t{300'000}}) {
    SCOPED_TRACE(size);
    const std::vector<std::byte> state = write(size);
    const auto left = disk_.after_power_loss(SimDisk::kNothingKept);
    EXPECT_FALSE(left->has(kPath)) << "its name is not synced by whoever writes it";
    const auto read = read_snapshot(disk_, kPath);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, state);
    EXPECT_EQ(disk_.contents(kPath).size(), *snapshot_file_bytes(size));
    const auto file = SnapshotFile::open(disk_, kPath);
    ASSERT_TRUE(file);
    const Snapshot expected{.identity = {.node = "a", .group = "g"},
                            .salt = 5,
                            .origin = 7,
                            .seq = 9,
                            .view = 3,
                            .bytes = size};
    EXPECT_EQ((*file)->header(), expected);
    EXPECT_TRUE((*file)->verify());
  }
}

TEST_F(SnapshotFiles, AreRefusedIfAnyByteHasChanged) {
  write(300);
  const std::vector<std::byte> good = disk_.contents(kPath);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{static_cast<unsigned char>(1U << (at % 8))};
    disk_.put(kPath, bad);
    const auto read = read_snapshot(disk_, kPath);
    ASSERT_FALSE(read) << "byte " << at;
    EXPECT_THAT(read.error().message, HasSubstr(kPath));
  }
}

TEST_F(SnapshotFiles, AreRefusedIfTheyHaveAnotherSize) {
  write(300);
  const std::vector<std::byte> good = disk_.contents(kPath);
  for (std::size_t size = 0; size < good.size() + 20; ++size) {
    if (size == good.size()) continue;
    std::vector<std::byte> bad = good;
    bad.resize(size);
    disk_.put(kPath, bad);
    ASSERT_FALSE(read_snapshot(disk_, kPath)) << size << " bytes";
  }
}

// Two members in one state: each file has the same bytes but for its salt, and yet no block of one
// is a block of the other.
TEST_F(SnapshotFiles, OfTwoMembersAreNeverMixed) {
  const std::vector<std::byte> state = some_state(3 * kBlockDataBytes, 1);
  ASSERT_TRUE(write_snapshot(disk_, kPath, 9, state, 5));
  const std::vector<std::byte> one = disk_.contents(kPath);
  ASSERT_TRUE(write_snapshot(disk_, kPath, 9, state, 6));
  const std::vector<std::byte> other = disk_.contents(kPath);
  for (std::size_t block = 0; block < 3; ++block) {
    std::vector<std::byte> mixed = one;
    const auto at = static_cast<std::ptrdiff_t>(kHeaderBytes + block * kBlockBytes);
    std::copy_n(other.begin() + at, kBlockBytes, mixed.begin() + at);
    disk_.put(kPath, mixed);
    EXPECT_FALSE(read_snapshot(disk_, kPath)) << "block " << block;
  }
}

TEST_F(SnapshotFiles, WithBlocksInAnotherOrderAreRefused) {
  write(3 * kBlockDataBytes);
  std::vector<std::byte> bytes = disk_.contents(kPath);
  const auto first = bytes.begin() + kHeaderBytes;
  std::swap_ranges(first, first + kBlockBytes, first + kBlockBytes);
  disk_.put(kPath, bytes);
  EXPECT_FALSE(read_snapshot(disk_, kPath));
}

TEST_F(SnapshotFiles, OfAnotherVersionSaySo) {
  write(10);
  std::vector<std::byte> bytes = disk_.contents(kPath);
  std::string head = encode_snapshot({});
  head[8] = 2;
  std::ranges::copy(std::as_bytes(std::span(head)), bytes.begin());
  disk_.put(kPath, bytes);
  const auto read = read_snapshot(disk_, kPath);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("checksum")) << "forged, and not well";
}

TEST(SnapshotNames, AreThereAndBack) {
  EXPECT_EQ(snapshot_name(8), "snapshot-00000000000000000008");
  EXPECT_EQ(seq_of_snapshot("snapshot-00000000000000000008"), 8U);
  EXPECT_EQ(seq_of_snapshot(snapshot_name(~0ULL)), ~0ULL);
  for (const char* other : {"snapshot-8", "snapshot.new", "snapshot-0000000000000000000x",
                            "snapshot-99999999999999999999", "00000000000000000008.log"}) {
    EXPECT_FALSE(seq_of_snapshot(other)) << other;
  }
}

}  // namespace
}  // namespace tutti::log::testing
