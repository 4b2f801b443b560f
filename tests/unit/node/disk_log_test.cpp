/// \file disk_log_test.cpp
/// DiskLog on a disk in memory: what of it is persisted and when, what one incarnation of a node
/// leaves to the next (DL4), and that it keeps nothing that was not as it was sent (FO4).
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

  bool append(std::uint64_t first, std::size_t many, std::size_t bytes = 100, bool as_sent = true) {
    const std::vector<std::byte> data(bytes, static_cast<std::byte>(first));
    std::vector<Message> messages;
    for (std::size_t i = 0; i < many; ++i) {
      messages.push_back({.seq = {first + i},
                          .data = data.data(),
                          .size = static_cast<std::uint32_t>(bytes),
                          .sender = {},
                          .ticket = {},
                          .view = 1});
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
  log_->begin(7);
  EXPECT_EQ(log_->persisted(), 0U);
  append(7, 3);
  EXPECT_EQ(log_->persisted(), 0U);
  EXPECT_EQ(work_off(), 1U);
  EXPECT_EQ(log_->persisted(), 10U);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_FALSE(log_->waits());
}

// DL2, DL3.
TEST_F(DiskLogTest, OneAppendMayBringMoreThanASegmentHolds) {
  log_->begin(0);
  ASSERT_TRUE(log_->has_room());
  append(0, 10, 1U << 20);
  EXPECT_FALSE(log_->has_room());
  EXPECT_GE(work_off(), 5U);
  EXPECT_TRUE(log_->has_room());
  EXPECT_EQ(log_->persisted(), 10U);
  EXPECT_EQ(numbers().size(), 10U);
}

TEST_F(DiskLogTest, ForgetsWhatWasNoMoreAsItWasSent) {
  log_->begin(0);
  EXPECT_TRUE(append(0, 2));
  EXPECT_FALSE(append(2, 3, 100, false));
  EXPECT_FALSE(append(2, 3, 1U << 20, false));
  EXPECT_TRUE(append(2, 1));
  work_off();
  EXPECT_EQ(log_->persisted(), 3U);
  EXPECT_EQ(numbers(), (std::vector<std::uint64_t>{0, 1, 2}));
}

// DL4: what waits goes, what is written is cut, and nothing of it counts.
TEST_F(DiskLogTest, BeginsAnewForTheNextIncarnation) {
  for (const std::uint64_t next : {30U, 12U, 25U, 5U}) {
    SCOPED_TRACE(next);
    log_->begin(10);
    append(10, 5);
    work_off();
    ASSERT_EQ(log_->persisted(), 15U);
    append(15, 5);
    log_->begin(next);
    EXPECT_EQ(log_->persisted(), 0U);
    EXPECT_TRUE(log_->waits());
    append(next, 2);
    work_off();
    EXPECT_EQ(log_->persisted(), next + 2);
    const std::vector<std::uint64_t> numbers = this->numbers();
    ASSERT_GE(numbers.size(), 2U);
    EXPECT_EQ(numbers.back(), next + 1);
    EXPECT_EQ(numbers[numbers.size() - 2], next);
  }
  log_->forget();
  EXPECT_TRUE(numbers().empty());
}

}  // namespace
}  // namespace tutti
