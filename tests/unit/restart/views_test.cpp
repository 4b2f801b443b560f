#include "restart/views.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/prng.hpp"
#include "restart/views_file.hpp"
#include "support/sim_disk.hpp"
#include "unit/restart/some_views.hpp"

namespace tutti::restart {
namespace {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

using testing::view_of;

Views some_views() {
  return {.node = "a",
          .nodes = {"a", "b", "c"},
          .origin = 0x0102030405060708,
          .since = 1,
          .chain = {view_of(1, {0, 1, 2}, 0), view_of(2, {0, 1}, 5)},
          .accepted =
              Accepted{.ballot = restart_ballot(2, 1),
                       .proposal = {.follows = 2, .next = view_of(3, {1, 0}, 7), .restart = true}},
          .promised = {.view = 2, .ballot = restart_ballot(3, 0)},
          .edition = {.directory = 77, .saves = 4},
          .heard = {{1, {{88, 9}, {99, 2}}}, {2, {{66, 3}}}}};
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    out += "0123456789abcdef"[value / 16];
    out += "0123456789abcdef"[value % 16];
  }
  return out;
}

TEST(Views, FileHasTheseBytes) {
  EXPECT_EQ(hex(encode_views_file({.node = "a",
                                   .nodes = {"a", "b"},
                                   .origin = 0x0102030405060708,
                                   .since = 1,
                                   .chain = {view_of(1, {0, 1}, 5)}})),
            "5455545449565753"  // TUTTIVWS
            "02000000"
            "73000000"
            "fcd36c00"
            "01000000"
            "61"
            "02000000"  // the names of all
            "01000000"
            "61"
            "01000000"
            "62"
            "0807060504030201"
            "0100000000000000"
            "01000000"  // one view
            "0100000000000000"
            "02000000"
            "00000000"
            "01000000"
            "01000000"
            "03000000"
            "6c6f67"
            "0500000000000000"
            "0000000000000000"  // promised
            "0000000000000000"
            "0000000000000000"  // edition
            "0000000000000000"
            "00000000"  // nothing heard
            "00");      // nothing accepted
}

TEST(Views, WhatWasEncodedIsDecoded) {
  const Views views = some_views();
  const auto decoded = decode_views_file(encode_views_file(views));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, views);
}

TEST(Views, EveryFlippedBitAndEveryShorterFileIsDamage) {
  const std::vector<std::byte> good = encode_views_file(some_views());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::vector<std::byte> bytes = good;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(decode_views_file(bytes)) << "bit " << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode_views_file(std::span(good).first(size))) << size << " bytes";
  }
}

// A checksum does not protect from a program that writes nonsense.
TEST(Views, ContentThatContradictsItselfIsDamage) {
  const auto refused = [](Views views) { return !decode_views_file(encode_views_file(views)); };
  Views views = some_views();
  EXPECT_FALSE(refused(views));
  views.chain.clear();
  EXPECT_TRUE(refused(views));
  views = some_views();
  std::swap(views.chain[0], views.chain[1]);
  EXPECT_TRUE(refused(views));
  views = some_views();
  views.chain[0].members = {1, 1};
  EXPECT_TRUE(refused(views));
  views = some_views();
  views.chain[0].first = {{"b", 0}, {"a", 0}};
  EXPECT_TRUE(refused(views));
  views = some_views();
  views.accepted->proposal.follows = 3;
  EXPECT_TRUE(refused(views));
  views = some_views();
  std::swap(views.heard[0], views.heard[1]);
  EXPECT_TRUE(refused(views));
}

TEST(Views, RandomBytesAreNeverViews) {
  Prng random(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes(random.below(200));
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(random.below(random.below(256) + 1));
    Decoder in(bytes);
    (void)decode_views(in);
    EXPECT_FALSE(in.done() && bytes.size() < 45);
  }
}

TEST(Views, AConfirmedViewIsTheFirstOfTheChain) {
  std::vector<ViewRecord> chain = some_views().chain;
  confirm(chain, 7);
  EXPECT_EQ(chain.size(), 2U);
  confirm(chain, 2);
  ASSERT_EQ(chain.size(), 1U);
  EXPECT_EQ(chain[0].id, 2U);
}

TEST(ViewsFile, IsNotThereAtFirst) {
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory("/state"));
  const auto loaded = ViewsFile(disk, "/state").load();
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(*loaded);
}

TEST(ViewsFile, DamageNamesTheFileAndSaysWhatToDo) {
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory("/state"));
  disk.put("/state/views", std::vector<std::byte>(100));
  const auto loaded = ViewsFile(disk, "/state").load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::damaged);
  EXPECT_NE(loaded.error().message.find("/state/views"), std::string::npos);
  EXPECT_NE(loaded.error().message.find("move the whole directory /state away"), std::string::npos);
}

// VF1, at each operation and with many images of what a power loss leaves.
TEST(ViewsFile, APowerLossLeavesTheOldOrTheNew) {
  const Views before = some_views();
  Views after = before;
  after.promised.ballot += 1;
  std::size_t old_ones = 0;
  std::size_t new_ones = 0;
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory("/state"));
  ViewsFile file(disk, "/state");
  ASSERT_TRUE(file.save(before));
  disk.on_operation([&](const DiskOperation& operation) {
    if (!operation.changes()) return DiskFate::done;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const std::unique_ptr<SimDisk> left = disk.after_power_loss(seed);
      const auto loaded = ViewsFile(*left, "/state").load();
      EXPECT_TRUE(loaded && *loaded);
      if (!loaded || !*loaded) continue;
      EXPECT_TRUE(**loaded == before || **loaded == after);
      (**loaded == before ? old_ones : new_ones) += 1;
    }
    return DiskFate::done;
  });
  ASSERT_TRUE(file.save(after));
  EXPECT_GT(old_ones, 0U);
  EXPECT_GT(new_ones, 0U);
  disk.on_operation({});
  const auto loaded = ViewsFile(*disk.after_power_loss(SimDisk::kNothingKept), "/state").load();
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ(**loaded, after);
}

TEST(ViewsFile, AnErrorOfTheDiskIsAnError) {
  for (const DiskStep step : {DiskStep::create, DiskStep::write, DiskStep::sync, DiskStep::rename,
                              DiskStep::sync_directory}) {
    SimDisk disk;
    ASSERT_TRUE(disk.make_directory("/state"));
    disk.on_operation([&](const DiskOperation& operation) {
      return operation.step == step ? DiskFate::io_error : DiskFate::done;
    });
    EXPECT_FALSE(ViewsFile(disk, "/state").save(some_views()));
  }
}

}  // namespace
}  // namespace tutti::restart
