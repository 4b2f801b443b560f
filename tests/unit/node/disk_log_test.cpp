/// \file disk_log_test.cpp
/// DiskLog on a disk in memory: what of it is persisted and when, that it leaves the log to the
/// node's recovery until that has brought it up (DL4), and that it keeps nothing that was not as it
/// was sent (FO4).
#include "node/disk_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/read.hpp"
#include "support/sim_disk.hpp"

namespace tutti {
namespace {

class DiskLogTest : public ::testing::Test {
 protected:
  DiskLogTest() {
    Result<std::unique_ptr<log::Writer>> writer = log::Writer::open(
        disk_, "state/g", {.node = "n", .group = "g"}, {.segment_bytes = 4 << 20});
    EXPECT_TRUE(writer) << writer.error().message;
    log_ = std::make_unique<DiskLog>(std::move(*writer), asked_);
  }

  // The log begins with that number.
  void begin(std::uint64_t seq) {
    if (seq != 0) {
      ASSERT_TRUE(log_->writer().begin_at(seq));
    }
    log_->on_begin([](std::uint64_t) {});
    log_->begin(seq);
    log_->take_over({.whole_from = seq, .next = seq}, 7);
  }
  bool append(std::uint64_t first, std::size_t many, std::size_t bytes = 100, bool as_sent = true,
              std::uint64_t view = 1) {
    const std::vector<std::byte> data(bytes, static_cast<std::byte>(first));
    std::vector<Message> messages;
    for (std::size_t i = 0; i < many; ++i) {
      messages.push_back({.seq = {first + i},
                          .data = data.data(),
                          .size = static_cast<std::uint32_t>(bytes),
                          .sender = {},
                          .ticket = {},
                          .view = view});
    }
    return log_->append(messages, [&] { return as_sent; });
  }
  // How many batches that took.
  std::size_t work_off() {
    for (std::size_t batches = 0;; ++batches) {
      const Result<bool> worked = log_->work();
      EXPECT_TRUE(worked) << worked.error().message;
      if (!worked || !*worked) return batches;
    }
  }
  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> out;
    const Result<log::Reading> read =
        log::read_log(disk_, "state/g", [&](const log::Record& record, std::uint64_t) {
          out.push_back(record.seq);
          return true;
        });
    EXPECT_TRUE(read && !read->damage);
    return out;
  }

  testing::SimDisk disk_;
  Signal asked_;
  std::unique_ptr<DiskLog> log_;
};

TEST_F(DiskLogTest, CountsAsPersistedWhatIsSynced) {
  begin(7);
  append(7, 3);
  EXPECT_EQ(log_->persisted(), 7U);
  EXPECT_EQ(work_off(), 1U);
  EXPECT_EQ(log_->persisted(), 10U);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_FALSE(log_->waits());
}

// DL2, DL3.
TEST_F(DiskLogTest, OneAppendMayBringMoreThanASegmentHolds) {
  begin(0);
  ASSERT_TRUE(log_->has_room());
  append(0, 10, 1U << 20);
  EXPECT_FALSE(log_->has_room());
  EXPECT_GE(work_off(), 5U);
  EXPECT_TRUE(log_->has_room());
  EXPECT_EQ(log_->persisted(), 10U);
  EXPECT_EQ(numbers().size(), 10U);
}

TEST_F(DiskLogTest, ForgetsWhatWasNoMoreAsItWasSent) {
  begin(0);
  EXPECT_TRUE(append(0, 2));
  EXPECT_FALSE(append(2, 3, 100, false));
  EXPECT_FALSE(append(2, 3, 1U << 20, false));
  EXPECT_TRUE(append(2, 1));
  work_off();
  EXPECT_EQ(log_->persisted(), 3U);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{0, 1, 2}));
}

// DL4. What is appended meanwhile waits, and goes on from what the recovery has brought.
TEST_F(DiskLogTest, WritesNothingBeforeItHasTakenTheLogOver) {
  std::vector<std::uint64_t> begun;
  log_->on_begin([&](std::uint64_t seq) { begun.push_back(seq); });
  log_->begin(7);
  EXPECT_EQ(begun, std::vector<std::uint64_t>{7});
  append(7, 2);
  EXPECT_FALSE(log_->waits());
  EXPECT_EQ(work_off(), 0U);
  EXPECT_EQ(log_->persisted(), 0U);
  EXPECT_TRUE(numbers().empty());
  restart::LogSummary summary;
  log::Batch batch;
  for (std::uint64_t seq = 0; seq < 7; ++seq) {
    const log::Record record{.seq = seq, .view = seq < 4 ? 3ULL : 4ULL, .data = {}};
    batch.add(record);
    restart::add(summary, record);
  }
  ASSERT_TRUE(log_->writer().write(batch));
  log_->take_over(summary, 7);
  EXPECT_EQ(log_->persisted(), 7U);
  EXPECT_TRUE(log_->waits());
  work_off();
  EXPECT_EQ(log_->persisted(), 9U);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

// What others that come back are told of a log that goes on.
TEST_F(DiskLogTest, KnowsTheViewsOfWhatItHasOnDisk) {
  begin(3);
  append(3, 2, 100, true, 5);
  append(5, 2, 100, false, 7);
  append(5, 2, 100, true, 6);
  EXPECT_EQ(log_->summary().next, 3U);
  EXPECT_TRUE(log_->summary().runs.empty());
  work_off();
  append(7, 1, 100, true, 8);
  const restart::LogSummary summary = log_->summary();
  EXPECT_EQ(summary.next, 7U);
  ASSERT_EQ(summary.runs.size(), 2U);
  EXPECT_EQ(summary.view_at(4), 5U);
  EXPECT_EQ(summary.view_at(5), 6U);
}

}  // namespace
}  // namespace tutti
