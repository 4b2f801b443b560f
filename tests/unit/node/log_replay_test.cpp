// What is in a log comes as messages: each once, in order, with all that was known of it; never
// what is not in the log yet.
#include "node/log_replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/writer.hpp"
#include "support/sim_disk.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

const std::string kDirectory = "/state/g";

struct WholeTo final : WholeLog {
  std::uint64_t to = ~0ULL;
  [[nodiscard]] std::uint64_t whole_to() const override { return to; }
};

class Replay : public ::testing::Test {
 protected:
  Replay() {
    auto opened = log::Writer::open(disk_, kDirectory, {.node = "a", .group = "g"});
    EXPECT_TRUE(opened);
    writer_ = std::move(*opened);
  }

  std::shared_ptr<const log::Disk> shared() { return {std::shared_ptr<void>(), &disk_}; }

  static std::vector<std::byte> data_of(std::uint64_t seq, std::size_t bytes) {
    std::vector<std::byte> data(bytes, std::byte(seq));
    if (seq % 7 == 3) data.resize(sizeof(std::uint64_t));  // a tick
    return data;
  }

  void write(std::uint64_t records, std::size_t bytes, std::uint64_t view) {
    log::Batch batch;
    for (std::uint64_t i = 0; i < records; ++i) {
      const std::uint64_t seq = writer_->next() + i;
      const std::vector<std::byte> data = data_of(seq, bytes);
      batch.add({.seq = seq,
                 .view = view,
                 .sender = static_cast<std::uint32_t>(seq % 3),
                 .tick = seq % 7 == 3,
                 .data = data});
    }
    ASSERT_TRUE(writer_->write(batch));
  }

  // Takes until nothing comes, and checks what does. Returns the views of the batches.
  std::vector<std::uint64_t> take(LogReplay& replay, std::uint64_t from, std::size_t bytes,
                                  std::size_t max = 256) {
    std::vector<std::uint64_t> views;
    next_ = from;
    for (;;) {
      const auto batch = replay.next(max);
      EXPECT_TRUE(batch) << batch.error().message;
      if (!batch || batch->empty()) return views;
      EXPECT_LE(batch->size(), max);
      views.push_back(batch->front().view);
      for (const Message& message : *batch) {
        EXPECT_EQ(message.seq.value, next_);
        EXPECT_EQ(message.view, views.back());
        EXPECT_EQ(message.sender.value, next_ % 3);
        EXPECT_EQ(message.tick().has_value(), next_ % 7 == 3);
        EXPECT_EQ(message.ticket, next_ % 7 == 3 ? kTickTicket : Ticket{});
        const std::vector<std::byte> due = data_of(next_, bytes);
        EXPECT_TRUE(std::ranges::equal(message.bytes(), due)) << next_;
        ++next_;
      }
    }
  }

  testing::SimDisk disk_{};
  std::unique_ptr<log::Writer> writer_{};
  WholeTo whole_{};
  std::uint64_t next_ = 0;  // behind what take() was handed
};

TEST_F(Replay, HandsOnWhatIsAskedForInBatchesOfOneView) {
  write(300, 50, 1);
  write(10, 50, 4);
  write(10, 50, 5);
  LogReplay all(shared(), whole_, {.directory = kDirectory, .from = 0, .until = 320});
  EXPECT_FALSE(all.is_over());
  EXPECT_EQ(take(all, 0, 50), (std::vector<std::uint64_t>{1, 1, 4, 5}));
  EXPECT_EQ(next_, 320U);
  EXPECT_TRUE(all.is_over());
  EXPECT_EQ(all.replayed(), 320U);
  LogReplay some(shared(), whole_, {.directory = kDirectory, .from = 305, .until = 312});
  EXPECT_EQ(take(some, 305, 50), (std::vector<std::uint64_t>{4, 5}));
  EXPECT_EQ(next_, 312U) << "what comes from the first new message on is not the log's";
  LogReplay one(shared(), whole_, {.directory = kDirectory, .from = 298, .until = 302});
  EXPECT_EQ(take(one, 298, 50, 1), (std::vector<std::uint64_t>{1, 1, 4, 4}));
  LogReplay none(shared(), whole_, {.directory = kDirectory, .from = 400, .until = 320});
  EXPECT_TRUE(none.is_over());
  EXPECT_TRUE(take(none, 0, 0).empty());
  EXPECT_EQ(none.replayed(), 0U);
}

TEST_F(Replay, HasSmallBatchesOfLargeMessagesAlignedAsTheGroupIs) {
  for (int i = 0; i < 6; ++i) write(100, 10'001, 2);
  for (const std::uint32_t alignment : {8U, 64U, 4096U}) {
    LogReplay replay(shared(), whole_,
                     {.directory = kDirectory, .from = 0, .until = 600, .alignment = alignment});
    next_ = 0;
    while (!replay.is_over()) {
      const auto batch = replay.next(256);
      ASSERT_TRUE(batch && !batch->empty());
      EXPECT_LE(batch->size(), 9U) << "7 of 10,001 bytes are more than 64 KiB; two ticks are less";
      for (const Message& message : *batch) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.data) % alignment, 0U);
        EXPECT_TRUE(std::ranges::equal(message.bytes(), data_of(next_, 10'001))) << next_;
        ++next_;
      }
    }
    EXPECT_EQ(next_, 600U);
  }
}

TEST_F(Replay, WaitsForWhatIsNotInTheLogYet) {
  whole_.to = 0;
  LogReplay replay(shared(), whole_, {.directory = kDirectory, .from = 2, .until = 30});
  EXPECT_TRUE(take(replay, 2, 10).empty());
  EXPECT_FALSE(replay.is_over());
  EXPECT_FALSE(replay.may_go_on());
  write(20, 10, 1);
  EXPECT_TRUE(take(replay, 2, 10).empty()) << "nobody has said that it is on disk";
  whole_.to = 12;
  EXPECT_TRUE(replay.may_go_on());
  take(replay, 2, 10);
  EXPECT_EQ(next_, 12U);
  EXPECT_FALSE(replay.may_go_on());
  write(20, 10, 2);
  whole_.to = 40;
  take(replay, 12, 10);
  EXPECT_EQ(next_, 30U);
  EXPECT_TRUE(replay.is_over());
}

TEST_F(Replay, BeginsWhereTheLogIsWhole) {
  write(10, 10, 1);
  ASSERT_TRUE(writer_->begin_at(50));
  write(10, 10, 3);
  LogReplay replay(shared(), whole_, {.directory = kDirectory, .from = 4, .until = 60});
  take(replay, 50, 10);
  EXPECT_EQ(next_, 60U);
  EXPECT_EQ(replay.replayed(), 10U);
  LogReplay before(shared(), whole_, {.directory = kDirectory, .from = 4, .until = 20});
  EXPECT_TRUE(take(before, 4, 10).empty());
  EXPECT_TRUE(before.is_over());
}

TEST_F(Replay, SaysWhatIsWrongWithTheLog) {
  write(10, 10, 1);
  LogReplay shorter(shared(), whole_, {.directory = kDirectory, .from = 0, .until = 11});
  ASSERT_TRUE(shorter.next(256));
  const auto end = shorter.next(256);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("ends before record 10"));
  LogReplay elsewhere(shared(), whole_, {.directory = "/state/none", .from = 0, .until = 1});
  EXPECT_FALSE(elsewhere.next(256));
}

}  // namespace
}  // namespace tutti
