// When a snapshot counts, and what of a log goes: SC1 and SC2.
#include "node/log_snapshots.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "support/sim_disk.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using tutti::testing::SimDisk;

constexpr std::uint64_t kSegment = 8192;

class SnapshotsOfALog : public ::testing::Test {
 protected:
  void open(const SnapshotOptions& options) {
    auto writer =
        log::Writer::open(disk_, "/s/g", {.node = "n", .group = "g"}, {.segment_bytes = kSegment});
    ASSERT_TRUE(writer);
    writer_ = std::move(*writer);
    auto found = log::Snapshots::open(disk_, *writer_);
    ASSERT_TRUE(found);
    snapshots_.emplace(*writer_, std::move(*found), options, asked_);
    snapshots_->hand_over(7);
    snapshots_->begin(now_);
  }
  void write(std::uint64_t records) {
    const std::vector<std::byte> data(1000);
    for (std::uint64_t i = 0; i < records; ++i) {
      log::Batch batch;
      batch.add({.seq = writer_->next(), .view = 3, .data = data});
      snapshots_->wrote(batch.bytes());
      ASSERT_TRUE(writer_->write(batch));
    }
  }
  bool work() {
    const Result<bool> changed = snapshots_->work(now_);
    EXPECT_TRUE(changed) << changed.error().message;
    return changed && *changed;
  }
  // What the thread for states does.
  void take(std::uint64_t seq) {
    ASSERT_TRUE(snapshots_->is_wanted());
    const Result<std::string> path = snapshots_->path();
    ASSERT_TRUE(path);
    auto writer = log::SnapshotWriter::create(disk_, *path, seq);
    ASSERT_TRUE(writer);
    const auto header = (*writer)->finish(snapshots_->header(seq, 3));
    ASSERT_TRUE(header);
    EXPECT_EQ(header->origin, 7U);
    snapshots_->offer(*header);
  }
  void take_and_count(std::uint64_t seq) {
    take(seq);
    snapshots_->set_durable_to(seq);
    ASSERT_TRUE(work());
    ASSERT_EQ(snapshots_->files().newest(), seq);
  }
  GroupStatistics statistics() {
    GroupStatistics out;
    snapshots_->add_to(out);
    return out;
  }

  SimDisk disk_;
  Signal asked_;
  std::unique_ptr<log::Writer> writer_;
  std::optional<LogSnapshots> snapshots_;
  std::uint64_t now_ = 1'000'000'000;
};

TEST_F(SnapshotsOfALog, AreWantedOnceTheLogHasGrown) {
  open({.every_bytes = 3000});
  write(2);
  EXPECT_FALSE(work());
  EXPECT_FALSE(snapshots_->is_wanted());
  EXPECT_FALSE(snapshots_->take_wish());
  write(1);
  work();
  EXPECT_TRUE(snapshots_->is_wanted());
  EXPECT_TRUE(snapshots_->take_wish());
  EXPECT_FALSE(snapshots_->take_wish()) << "once";
  take_and_count(3);
  EXPECT_FALSE(snapshots_->is_wanted());
  write(3);
  work();
  EXPECT_TRUE(snapshots_->is_wanted());
}

TEST_F(SnapshotsOfALog, AreWantedAtAnAgeIfAnythingIsNew) {
  open({.every = 1s});
  now_ += 5'000'000'000;
  work();
  EXPECT_FALSE(snapshots_->is_wanted()) << "the log is empty";
  write(1);
  EXPECT_EQ(snapshots_->rests(now_), 0s);
  work();
  EXPECT_TRUE(snapshots_->is_wanted());
  take_and_count(1);
  now_ += 900'000'000;
  work();
  EXPECT_FALSE(snapshots_->is_wanted());
  write(1);
  EXPECT_EQ(snapshots_->rests(now_), 100ms);
  now_ += 100'000'000;
  work();
  EXPECT_TRUE(snapshots_->is_wanted());
}

TEST_F(SnapshotsOfALog, CountOnceAllMembersHaveOnDiskWhatTheyHave) {
  open({.every_bytes = 1000});
  write(5);
  work();
  take(5);
  snapshots_->set_durable_to(4);
  EXPECT_FALSE(snapshots_->may_go_on());
  EXPECT_FALSE(work());
  EXPECT_FALSE(disk_.has(snapshots_->files().path_of(5)));
  EXPECT_EQ(statistics().snapshots, 0U);
  snapshots_->set_durable_to(5);
  EXPECT_TRUE(snapshots_->may_go_on());
  EXPECT_TRUE(work());
  EXPECT_TRUE(disk_.has(snapshots_->files().path_of(5)));
  EXPECT_EQ(statistics().snapshots, 1U);
  EXPECT_EQ(statistics().snapshot_before, 5U);
}

TEST_F(SnapshotsOfALog, ThatCannotBeTakenAreTriedAgainLater) {
  open({.every_bytes = 2000});
  write(5);
  work();
  snapshots_->failed();
  EXPECT_TRUE(snapshots_->may_go_on());
  EXPECT_FALSE(work());
  EXPECT_FALSE(snapshots_->is_wanted());
  EXPECT_EQ(snapshots_->files().newest(), 0U);
  write(2);
  work();
  EXPECT_TRUE(snapshots_->is_wanted());
}

// Of each segment three records have room.
TEST_F(SnapshotsOfALog, LetGoWhatNobodyNeeds) {
  open({.every_bytes = 1000});
  write(7);
  work();
  take_and_count(7);
  EXPECT_EQ(writer_->first(), 0U) << "if that one is damaged, all is needed";
  write(13);
  work();
  take_and_count(20);
  EXPECT_EQ(writer_->first(), 6U) << "what the older one has";
  EXPECT_EQ(statistics().log_from, 6U);
  write(13);
  work();
  snapshots_->keep_from(10);
  take_and_count(33);
  EXPECT_EQ(writer_->first(), 9U) << "a node is about to fetch 10";
  snapshots_->keep_from(~0ULL);
  snapshots_->set_durable_to(13);  // a member has joined since
  EXPECT_LT(snapshots_->rests(now_), 1s) << "it looks again";
  EXPECT_TRUE(work());
  EXPECT_EQ(writer_->first(), 12U);
  snapshots_->set_durable_to(33);
  EXPECT_TRUE(work());
  EXPECT_EQ(writer_->first(), 18U);
  EXPECT_GT(snapshots_->rests(now_), 1min);
}

TEST_F(SnapshotsOfALog, KeepSomeOfTheLog) {
  open({.every_bytes = 1000, .keep_bytes = 2 * kSegment});
  write(20);
  work();
  take_and_count(20);
  write(2);
  work();
  take_and_count(22);
  EXPECT_GE(writer_->bytes_from(0), 2 * kSegment);
  EXPECT_GT(writer_->first(), 0U);
  EXPECT_LT(writer_->first(), 18U);
}

// What was in the log when the node started may not have been handed to the application yet.
TEST_F(SnapshotsOfALog, LetNothingGoBeforeOneWasWrittenInThisRun) {
  open({.every_bytes = 1000});
  write(7);
  work();
  take_and_count(7);
  write(7);
  work();
  take(14);
  snapshots_->set_durable_to(12);
  work();
  snapshots_.reset();
  writer_.reset();
  open({.every_bytes = 1000});
  EXPECT_EQ(snapshots_->files().newest(), 7U) << "14 did not count";
  snapshots_->set_durable_to(14);
  work();
  EXPECT_EQ(writer_->first(), 0U);
  take_and_count(14);
  EXPECT_EQ(writer_->first(), 6U);
}

}  // namespace
}  // namespace tutti
