// The snapshots beside a log: which of them count, and that a log never goes without what is below
// it, whatever a power loss leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "unit/log/expected.hpp"
#include "unit/log/snapshot_samples.hpp"
#include "unit/log/trace.hpp"

namespace tutti::log::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::SimDisk;

const std::string kFolder = kSnapshotFolder;
const Identity kIdentity{.node = "a", .group = "g"};

// A log with its snapshots, and what its application would have.
class Beside {
 public:
  explicit Beside(std::unique_ptr<SimDisk> disk = std::make_unique<SimDisk>())
      : disk_(std::move(disk)) {
    auto writer = Writer::open(*disk_, kFolder, kIdentity, small_segments(++salt_));
    EXPECT_TRUE(writer) << (writer ? "" : writer.error().message);
    writer_ = std::move(*writer);
    auto found = Snapshots::open(*disk_, *writer_);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    snapshots_.emplace(std::move(*found));
  }
  void write(std::uint64_t records, std::uint64_t seed) {
    Batch batch;
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < records; ++i) {
      entries.push_back(make_entry(writer_->next() + i, 300, seed + i));
    }
    add_all(batch, entries);
    ASSERT_TRUE(writer_->write(batch));
  }
  void snapshot(std::uint64_t seq) {
    const auto header = write_snapshot(*disk_, snapshots_->path_of(Snapshots::kNewName), seq,
                                       state_of(seq), ++salt_);
    ASSERT_TRUE(header);
    ASSERT_TRUE(snapshots_->publish(Snapshots::kNewName, *header));
  }
  // What the members make of the first messages: here, their number.
  static std::vector<std::byte> state_of(std::uint64_t seq) { return some_state(100, seq); }
  [[nodiscard]] std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> out;
    for (const Snapshot& one : snapshots_->all()) out.push_back(one.seq);
    return out;
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> out;
    const auto names = disk_->list(kFolder);
    for (const std::string& name : *names) {
      if (name.starts_with("snapshot")) out.push_back(name);
    }
    return out;
  }
  std::unique_ptr<SimDisk> end() {
    snapshots_.reset();
    writer_.reset();
    return std::move(disk_);
  }
  SimDisk& disk() { return *disk_; }
  Writer& writer() { return *writer_; }
  Snapshots& snapshots() { return *snapshots_; }

 private:
  static inline std::uint64_t salt_ = 0;
  std::unique_ptr<SimDisk> disk_;
  std::unique_ptr<Writer> writer_;
  std::optional<Snapshots> snapshots_;
};

TEST(SnapshotsBesideALog, KeepTheNewestTwo) {
  Beside log;
  log.write(10, 1);
  EXPECT_EQ(log.snapshots().newest(), 0U);
  log.snapshot(3);
  EXPECT_EQ(log.snapshots().release_limit(), 0U) << "one may turn out to be damaged";
  log.snapshot(6);
  EXPECT_EQ(log.snapshots().release_limit(), 3U);
  log.snapshot(10);
  EXPECT_THAT(log.numbers(), ElementsAre(6, 10));
  EXPECT_THAT(log.files(), ElementsAre(snapshot_name(6), snapshot_name(10)));
  Beside again(log.end()->after_power_loss(SimDisk::kNothingKept));
  EXPECT_THAT(again.numbers(), ElementsAre(6, 10));
}

TEST(SnapshotsBesideALog, GiveWayToTheOneBeforeIfTheyAreDamaged) {
  Beside log;
  log.write(10, 1);
  log.snapshot(3);
  log.snapshot(6);
  auto disk = log.end();
  std::vector<std::byte> bytes = disk->contents(kFolder + "/" + snapshot_name(6));
  bytes.back() ^= std::byte{1};
  disk->put(kFolder + "/" + snapshot_name(6), bytes);
  Beside again(std::move(disk));
  EXPECT_THAT(again.numbers(), ElementsAre(3));
  ASSERT_EQ(again.snapshots().trouble().size(), 1U);
  EXPECT_THAT(again.snapshots().trouble().front(), HasSubstr(snapshot_name(6)));
  EXPECT_THAT(again.files(), ElementsAre(snapshot_name(3), snapshot_name(6))) << "to be looked at";
  again.snapshot(10);
  EXPECT_THAT(again.files(), ElementsAre(snapshot_name(3), snapshot_name(10)));
}

TEST(SnapshotsBesideALog, DoNotCountWhatWasNotPublished) {
  Beside log;
  log.write(10, 1);
  ASSERT_TRUE(write_snapshot(log.disk(), log.snapshots().path_of(Snapshots::kNewName), 5,
                             Beside::state_of(5)));
  ASSERT_TRUE(write_snapshot(log.disk(), log.snapshots().path_of(Snapshots::kFetchedName), 7,
                             Beside::state_of(7)));
  Beside again(log.end());
  EXPECT_EQ(again.snapshots().newest(), 0U);
  EXPECT_TRUE(again.files().empty());
}

TEST(SnapshotsBesideALog, DoNotCountWhereTheLogDoesNotGo) {
  Beside log;
  log.write(10, 1);
  log.snapshot(5);
  ASSERT_TRUE(write_snapshot(log.disk(), log.snapshots().path_of(11), 11, Beside::state_of(11)));
  Beside again(log.end());
  EXPECT_THAT(again.numbers(), ElementsAre(5)) << "the log ends before 11";
  EXPECT_THAT(again.files(), ElementsAre(snapshot_name(5)));
  ASSERT_TRUE(again.writer().begin_at(20));
  Beside behind(again.end());
  EXPECT_EQ(behind.snapshots().newest(), 0U) << "a gap lies behind 5";
}

TEST(SnapshotsBesideALog, AreOfOneGroupAndOneFounding) {
  Beside log;
  log.write(10, 1);
  log.snapshot(5);
  ASSERT_TRUE(write_snapshot(log.disk(), log.snapshots().path_of(4), 4, {}, 5, "other"));
  Beside again(log.end());
  EXPECT_THAT(again.numbers(), ElementsAre(5));
  again.snapshots().of_founding(7);
  EXPECT_THAT(again.numbers(), ElementsAre(5));
  again.snapshots().of_founding(8);
  EXPECT_EQ(again.snapshots().newest(), 0U);
  ASSERT_EQ(again.snapshots().trouble().size(), 2U);
  EXPECT_THAT(again.snapshots().trouble().front(), HasSubstr("group 'other'"));
  EXPECT_THAT(again.snapshots().trouble().back(), HasSubstr("another time"));
}

TEST(SnapshotsBesideALog, GoBeforeTheLogIsCut) {
  Beside log;
  log.write(10, 1);
  log.snapshot(4);
  log.snapshot(8);
  ASSERT_TRUE(log.snapshots().cut_to(8));
  EXPECT_THAT(log.numbers(), ElementsAre(4, 8));
  ASSERT_TRUE(log.snapshots().cut_to(7));
  EXPECT_THAT(log.numbers(), ElementsAre(4));
  EXPECT_FALSE(log.disk().after_power_loss(SimDisk::kNothingKept)->has(log.snapshots().path_of(8)));
}

// SN1 to SN4: at every operation of a life with snapshots, releases and cuts.
class SnapshotCrashes : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SnapshotCrashes, NeverLeaveALogWithoutWhatIsBelowIt) {
  Prng random(GetParam());
  Beside log;
  std::size_t images = 0;
  bool good = true;
  const auto judge = [&](std::unique_ptr<SimDisk> image, std::uint64_t durable) {
    ++images;
    if (!image->list(kFolder)) return;
    Beside found(std::move(image));
    const std::uint64_t first = found.writer().first();
    for (const Snapshot& one : found.snapshots().all()) {
      const auto state = read_snapshot(found.disk(), found.snapshots().path_of(one.seq));
      good = good && state && *state == Beside::state_of(one.seq);
      good = good && one.seq >= first && one.seq <= found.writer().next();
    }
    good = good && found.snapshots().trouble().empty();
    good = good && (first == 0 || found.snapshots().newest() != 0);
    // One that may be damaged at most.
    good = good && (first == 0 || found.snapshots().release_limit() >= first);
    good = good && found.writer().next() >= durable;
    EXPECT_TRUE(good) << "first " << first << ", newest " << found.snapshots().newest();
  };
  std::uint64_t durable = 0;  // no cut is below it
  log.disk().on_operation([&](const DiskOperation& operation) {
    if (!operation.changes() || !good) return DiskFate::done;
    judge(log.disk().after_power_loss(SimDisk::kNothingKept), durable);
    judge(log.disk().after_power_loss(SimDisk::kAllKept), durable);
    judge(log.disk().after_power_loss(random.next()), durable);
    return DiskFate::done;
  });
  for (int step = 0; step < 60 && good; ++step) {
    log.write(1 + random.below(20), random.next());
    const std::uint64_t next = log.writer().next();
    if (random.one_in(2)) {
      durable = std::max(durable, next - random.below(std::min<std::uint64_t>(next, 10)));
    }
    if (random.one_in(3) && durable > log.snapshots().newest()) log.snapshot(durable);
    if (random.one_in(2)) {
      ASSERT_TRUE(log.writer().release_before(log.snapshots().release_limit()));
    }
    if (random.one_in(5)) {
      const std::uint64_t seq = durable + random.below(next - durable + 1);
      ASSERT_TRUE(log.snapshots().cut_to(seq));
      ASSERT_TRUE(log.writer().cut_to(seq));
    }
  }
  EXPECT_TRUE(good) << "seed " << GetParam();
  EXPECT_GT(images, 500U);
  EXPECT_GT(log.writer().first(), 0U) << "something was released";
}

INSTANTIATE_TEST_SUITE_P(Seeds, SnapshotCrashes, ::testing::Range<std::uint64_t>(1, 6));

TEST(WriterRelease, KeepsSoManyBytes) {
  Beside log;
  while (log.writer().bytes_from(0) < 5 * (16U << 10)) log.write(5, 1);
  const std::uint64_t next = log.writer().next();
  ASSERT_TRUE(log.writer().release_before(next, 40U << 10));
  EXPECT_GE(log.writer().bytes_from(0), 40U << 10);
  EXPECT_LT(log.writer().bytes_from(0), 57U << 10) << "a segment more has to go";
  EXPECT_FALSE(log.writer().may_release(next, 40U << 10));
  EXPECT_TRUE(log.writer().may_release(next, 0));
  EXPECT_EQ(log.writer().bytes_from(next), 0U);
  ASSERT_TRUE(log.writer().release_before(next));
  EXPECT_LE(log.writer().bytes_from(0), 16U << 10);
}

}  // namespace
}  // namespace tutti::log::testing
