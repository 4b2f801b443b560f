// Pieces of a log for other nodes: each reader has its own place, and what follows costs no reading
// of what came before.
#include "restart/piece_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/writer.hpp"
#include "support/sim_disk.hpp"

namespace tutti::restart::testing {
namespace {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

const std::string kDirectory = "/state/g";

class Pieces : public ::testing::Test {
 protected:
  Pieces() {
    auto opened = log::Writer::open(disk_, kDirectory, {.node = "a", .group = "g"});
    EXPECT_TRUE(opened);
    writer_ = std::move(*opened);
    write(20'000, 1);
  }

  void write(std::uint64_t records, std::uint64_t view) {
    log::Batch batch;
    const std::vector<std::byte> data(64, std::byte(view));
    for (std::uint64_t i = 0; i < records; ++i) {
      batch.add({.seq = writer_->next() + i, .view = view, .sender = 2, .data = data});
    }
    ASSERT_TRUE(writer_->write(batch));
  }

  // Reads on to `until`, and returns how many bytes of the disk that took.
  std::uint64_t read_to(std::uint32_t reader, std::uint64_t from, std::uint64_t until,
                        std::uint64_t view) {
    std::uint64_t bytes = 0;
    disk_.on_operation([&](const DiskOperation& operation) {
      if (operation.step == DiskStep::read && operation.offset != 0) bytes += operation.bytes;
      return DiskFate::done;
    });
    while (from < until) {
      const auto piece = pieces_.read(reader, kDirectory, from, until, 10'000);
      EXPECT_TRUE(piece && !piece->empty());
      if (!piece || piece->empty()) break;
      for (const OwnedRecord& record : *piece) {
        EXPECT_EQ(record.seq, from++);
        EXPECT_EQ(record.view, view);
        EXPECT_EQ(record.sender, 2U);
        EXPECT_EQ(record.data, std::vector<std::byte>(64, std::byte(view)));
      }
    }
    disk_.on_operation({});
    return bytes;
  }

  SimDisk disk_{};
  std::unique_ptr<log::Writer> writer_{};
  PieceReader pieces_{disk_};
};

TEST_F(Pieces, ThatFollowEachOtherReadNothingAgain) {
  const std::uint64_t bytes = read_to(1, 0, 20'000, 1);
  EXPECT_GT(bytes, 1'900'000U);
  EXPECT_LT(bytes, 9'000'000U) << "each of 200 pieces reads at least a window if it begins anew";
  EXPECT_EQ(pieces_.places(), 0U) << "it has had all that it asked for";
}

TEST_F(Pieces, OfSeveralReadersHaveAPlaceEach) {
  for (std::uint64_t at = 0; at < 20'000; at += 2'000) {
    for (const std::uint32_t reader : {1U, 2U}) {
      const auto piece = pieces_.read(reader, kDirectory, at, 20'000, 2'000 * 96);
      ASSERT_TRUE(piece);
      ASSERT_EQ(piece->size(), 2'000U);
      EXPECT_EQ(piece->front().seq, at);
    }
    if (at + 2'000 < 20'000) {
      EXPECT_EQ(pieces_.places(), 2U);
    }
  }
  ASSERT_TRUE(pieces_.read(1, kDirectory, 10, 20'000, 1));
  pieces_.forget(1);
  EXPECT_EQ(pieces_.places(), 0U);
}

TEST_F(Pieces, OfALogThatWasCutAreNotWhatItHadBefore) {
  ASSERT_TRUE(pieces_.read(1, kDirectory, 0, 20'000, 100 * 96));
  pieces_.forget(kDirectory);
  ASSERT_TRUE(writer_->cut_to(50));
  write(200, 2);
  read_to(1, 100, 250, 2);
  EXPECT_FALSE(pieces_.read(1, kDirectory + "/none", 0, 1, 1));
}

}  // namespace
}  // namespace tutti::restart::testing
