// A log that is read while its writer goes on: at each read of a file something more is written,
// released or cut. What is found is the log as it was at some moment, and it is found at last.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "log/read.hpp"
#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/trace.hpp"

namespace tutti::log::testing {
namespace {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

class BusyLog : public ::testing::Test {
 protected:
  BusyLog() {
    for (int i = 0; i < 40; ++i) write();
  }

  // A segment has room for three such records.
  void write(std::size_t bytes = 3000) {
    Batch batch;
    batch.add(record_of(make_entry(writer_->next(), bytes, writer_->next())));
    const Result<void> written = writer_->write(batch);
    EXPECT_TRUE(written) << written.error().message;
  }

  // Before each of the first `times` reads that a reader makes, from that offset of a file on.
  void at_each_read(int times, std::function<void()> change, std::uint64_t from = 0) {
    disk_.on_operation([this, left = times, from,
                        change = std::move(change)](const DiskOperation& operation) mutable {
      if (operation.step != DiskStep::read || changing_ || left == 0) return DiskFate::done;
      if (operation.offset < from) return DiskFate::done;
      --left;
      ++changes_;
      changing_ = true;
      change();
      changing_ = false;
      return DiskFate::done;
    });
  }

  // The records are those that were written, without a gap, from the log's first one on.
  Result<Reading> read() {
    std::vector<std::uint64_t> seen;
    const auto visit = [&](const Record& record, std::uint64_t) {
      EXPECT_EQ(entry_of(record), make_entry(record.seq, record.data.size(), record.seq));
      seen.push_back(record.seq);
      return true;
    };
    Result<Reading> reading =
        read_log(disk_, kDirectory, {.visit = visit, .begin_anew = [&] { seen.clear(); }});
    if (!reading) return reading;
    EXPECT_FALSE(reading->damage) << to_string(*reading->damage);
    EXPECT_EQ(seen.size(), reading->next - reading->first);
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], reading->first + i);
    return reading;
  }

  SimDisk disk_{};
  std::unique_ptr<Writer> writer_ = open_writer(disk_, small_segments(1));
  bool changing_ = false;
  int changes_ = 0;
};

TEST_F(BusyLog, IsReadToItsEndWhileSegmentsAreBegun) {
  at_each_read(60, [&] {
    for (int i = 0; i < 4; ++i) write();
  });
  const Result<Reading> reading = read();
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(changes_, 60);
  EXPECT_EQ(reading->first, 0U);
  EXPECT_EQ(reading->next, writer_->next());
}

TEST_F(BusyLog, IsNotDamagedWhereABatchIsSeenBeforeThatInFrontOfIt) {
  for (int start = 0; start < 40; ++start) {
    write(1 + static_cast<std::size_t>(start) * 90);
    // Twice, for the second one claims that the first was synced (LF2).
    const auto change = [&] {
      write(1500);
      write(1500);
    };
    at_each_read(150, change, 1);
    ASSERT_TRUE(read());
    disk_.on_operation({});
  }
}

TEST_F(BusyLog, BeginsWhereItBeginsNowIfItsFirstSegmentsAreReleased) {
  at_each_read(60, [&] {
    for (int i = 0; i < 3; ++i) write();
    ASSERT_TRUE(writer_->release_before(writer_->next() - 12));
  });
  const Result<Reading> reading = read();
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(changes_, 60);
  EXPECT_EQ(reading->first, writer_->first());
  EXPECT_EQ(reading->next, writer_->next());
}

TEST_F(BusyLog, IsReadAnewIfItIsCut) {
  for (int at = 1; at < 30; ++at) {
    const std::uint64_t next = writer_->next();
    int reads = 0;
    at_each_read(at, [&] {
      if (++reads == at) {
        ASSERT_TRUE(writer_->cut_to(next - 10));
      }
    });
    const Result<Reading> reading = read();
    ASSERT_TRUE(reading) << reading.error().message;
    EXPECT_TRUE(reading->next == next || reading->next == next - 10) << reading->next;
    disk_.on_operation({});
    while (writer_->next() < next) write();
  }
}

TEST_F(BusyLog, ThatNeverStandsStillIsAnError) {
  at_each_read(-1, [&] {
    for (int i = 0; i < 3; ++i) write();
    ASSERT_TRUE(writer_->release_before(writer_->next()));
  });
  const Result<Reading> reading = read();
  ASSERT_FALSE(reading);
  EXPECT_NE(reading.error().message.find("faster"), std::string::npos) << reading.error().message;
}

TEST_F(BusyLog, ThatIsReleasedUnderAVisitorIsAnErrorIfItCannotForget) {
  const Result<Reading> reading =
      read_log(disk_, kDirectory, [&](const Record& record, std::uint64_t) {
        if (record.seq != 5) return true;
        EXPECT_TRUE(writer_->release_before(writer_->next()));
        return true;
      });
  ASSERT_FALSE(reading);
  EXPECT_NE(reading.error().message.find("released"), std::string::npos) << reading.error().message;
}

}  // namespace
}  // namespace tutti::log::testing
