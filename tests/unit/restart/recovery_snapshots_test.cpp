// A node that lacks what others have released gets a snapshot first, and then what follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "unit/restart/recovery_trio.hpp"

namespace tutti::restart {
namespace {

using testing::RecoveryTrio;
using testing::view_of;
using testing::views_at;
using Stage = Recovery::Stage;
using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::SimDisk;

constexpr std::size_t kLongRecord = 1000;  // of a record: three fit a segment

// a and b run in view 5; each has snapshots before 20 and 30, and nothing below 18.
void run_two_that_have_released(RecoveryTrio& trio) {
  trio.run_two(3);
  for (const std::uint32_t slot : {0U, 1U}) {
    RecoveryTrio::Member& one = trio.members[slot];
    for (int i = 0; i < 35; ++i) one.append(1, 5, kLongRecord);
    // They differ in place, and are longer than a piece.
    one.take_snapshot(20, "twenty");
    one.take_snapshot(30, std::string(3000, static_cast<char>('a' + slot)));
    EXPECT_GT(one.writer->first(), 20U);
  }
}

std::string state_at(RecoveryTrio::Member& one, std::uint64_t seq) {
  auto file = log::SnapshotFile::open(one.disk, one.snapshots->path_of(seq));
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  if (!file) return {};
  const auto block = (*file)->block(0);
  EXPECT_TRUE(block);
  return block ? std::string(reinterpret_cast<const char*>(block->data()), block->size())
               : std::string();
}

void expect_at_38_from_30(RecoveryTrio& trio) {
  RecoveryTrio::Member& c = trio.members[2];
  EXPECT_TRUE(trio.at(2).may_join()) << trio.at(2).why();
  EXPECT_EQ(c.writer->first(), 30U);
  EXPECT_EQ(c.writer->next(), 38U);
  EXPECT_EQ(c.snapshots->newest(), 30U);
  trio.enter(2, view_of(6, {0, 1, 2}, 38));
  EXPECT_EQ(c.whole_at, 38U);
  const auto sum = [&](std::uint32_t slot) {
    return sum_of(trio.members[slot].disk, "/s/log", 30, 38);
  };
  EXPECT_EQ(*sum(2), *sum(0));
}

TEST(RecoverySnapshots, ComeBeforeTheSuffixAndSurviveACrashAtAnyStep) {
  RecoveryTrio trio;
  run_two_that_have_released(trio);
  trio.start(2, views_at(2), {3, 3});
  RecoveryTrio::Member& c = trio.members[2];
  Prng random(1);
  std::size_t images = 0;
  const auto judge = [&](std::uint64_t seed) {
    const auto image = c.disk.after_power_loss(seed);
    auto writer =
        log::Writer::open(*image, "/s/log", {.node = "c", .group = "log"}, {.segment_bytes = 8192});
    ASSERT_TRUE(writer) << writer.error().message;
    auto snapshots = log::Snapshots::open(*image, **writer);
    ASSERT_TRUE(snapshots);
    EXPECT_TRUE(snapshots->trouble().empty());
    const auto whole_from = log::whole_from(*image, "/s/log");
    ASSERT_TRUE(whole_from);
    if (*whole_from == 0) {
      EXPECT_EQ((*writer)->next(), 2U) << "what it had";
      EXPECT_EQ(snapshots->newest(), 0U);
    } else {
      EXPECT_EQ(*whole_from, 30U);
      EXPECT_EQ(snapshots->newest(), 30U);
    }
    ++images;
  };
  c.disk.on_operation([&](const DiskOperation& operation) {
    if (operation.changes()) {
      judge(SimDisk::kNothingKept);
      judge(SimDisk::kAllKept);
      judge(random.next());
    }
    return DiskFate::done;
  });
  trio.connect_all();
  trio.deliver();
  c.disk.on_operation({});
  EXPECT_GT(images, 60U);
  expect_at_38_from_30(trio);
  EXPECT_FALSE(c.disk.has(c.snapshots->path_of(log::Snapshots::kFetchedName)));
}

TEST(RecoverySnapshots, OfTwoMembersAreNotMixedIfTheFirstGoesDown) {
  RecoveryTrio trio;
  run_two_that_have_released(trio);
  trio.start(2, std::nullopt);
  trio.connect(0, 2);
  trio.connect(1, 2);
  RecoveryTrio::Member& c = trio.members[2];
  std::optional<std::uint32_t> from;
  for (int pieces = 0; pieces < 3 && !trio.wire.empty();) {
    const RecoveryTrio::Sent sent = std::move(trio.wire.front());
    trio.wire.pop_front();
    const auto message = decode(sent.bytes);
    if (std::holds_alternative<SnapshotPiece>(*message)) {
      ++pieces;
      from = sent.from;
    }
    trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
  }
  ASSERT_TRUE(from);
  EXPECT_EQ(c.writer->next(), 0U);
  trio.disconnect(*from, 2);
  trio.deliver();
  EXPECT_EQ(c.writer->next(), 38U);
  EXPECT_EQ(state_at(c, 30), std::string(3000, static_cast<char>('a' + 1 - *from)));
}

TEST(RecoverySnapshots, AreAskedForOnceHoweverOftenTheViewChanges) {
  RecoveryTrio trio;
  run_two_that_have_released(trio);
  trio.start(2, std::nullopt);
  trio.connect_all();
  std::uint64_t view = 5;
  std::size_t pieces = 0;
  std::set<std::uint64_t> offsets;
  while (!trio.wire.empty()) {
    const auto message = decode(trio.wire.front().bytes);
    if (const auto* const piece = std::get_if<SnapshotPiece>(&*message)) {
      ++pieces;
      offsets.insert(piece->offset);
      if (pieces % 3 == 0 && view < 10) {
        ++view;
        for (const std::uint32_t slot : {0U, 1U}) {
          ASSERT_EQ(trio.at(slot).install(view_of(view, {0, 1}, 38)), Recovery::Installed::yes);
        }
      }
    }
    ASSERT_TRUE(trio.deliver_one());
  }
  EXPECT_EQ(view, 10U);
  EXPECT_GT(offsets.size(), 30U);
  EXPECT_LE(pieces, offsets.size() + 5);
  EXPECT_EQ(trio.members[2].writer->next(), 38U);
}

TEST(RecoverySnapshots, ThatAreDamagedOnTheWayAreNotTaken) {
  RecoveryTrio trio;
  run_two_that_have_released(trio);
  trio.start(2, std::nullopt);
  trio.connect(0, 2);
  trio.connect(1, 2);
  bool spoilt = false;
  while (!trio.wire.empty()) {
    RecoveryTrio::Sent sent = std::move(trio.wire.front());
    trio.wire.pop_front();
    const auto message = decode(sent.bytes);
    const auto* const piece = std::get_if<SnapshotPiece>(&*message);
    if (piece != nullptr && piece->offset > 4200 && !spoilt) {
      sent.bytes.back() ^= std::byte{1};
      spoilt = true;
    }
    trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
  }
  EXPECT_TRUE(spoilt);
  EXPECT_EQ(trio.members[2].writer->next(), 38U) << "the other one is asked";
  expect_at_38_from_30(trio);
}

// What c has in view 4 was left out by a cut before 10, of which nobody tells any more, and the
// others' logs begin behind it.
TEST(RecoverySnapshots, TakeThePlaceOfALogThatNothingCanBeComparedWith) {
  for (const std::size_t records : {15U, 33U, 60U}) {
    SCOPED_TRACE(records);
    RecoveryTrio trio;
    run_two_that_have_released(trio);
    std::vector<std::uint64_t> views(records, 4);
    std::fill_n(views.begin(), 10, 3);
    trio.start(2, views_at(2, {view_of(3, {0, 1, 2})}), views);
    for (const std::uint32_t slot : {0U, 1U}) trio.at(slot).confirm(5);
    trio.connect_all();
    trio.deliver();
    expect_at_38_from_30(trio);
  }
}

TEST(RecoverySnapshots, AreNotNeededWhereTheOthersStillHaveWhatIsLacking) {
  RecoveryTrio trio;
  run_two_that_have_released(trio);
  trio.start(2, std::nullopt);
  trio.connect_all();
  trio.deliver();
  trio.stop(2);
  for (const std::uint32_t slot : {0U, 1U}) trio.members[slot].append(1, 5, kLongRecord);
  for (const std::uint32_t slot : {0U, 1U}) {
    trio.members[slot].take_snapshot(38, "thirty-eight");
  }
  trio.start(2, trio.members[2].on_disk());
  trio.connect_all();
  trio.deliver();
  EXPECT_EQ(trio.members[2].writer->next(), 39U);
  EXPECT_EQ(trio.members[2].snapshots->newest(), 30U) << "it has not fetched 38";
}

TEST(RecoverySnapshots, OfWhatIsFetchedNothingIsReleased) {
  RecoveryTrio trio;
  run_two_that_have_released(trio);
  EXPECT_FALSE(trio.members[0].kept_from);
  trio.start(2, std::nullopt);
  trio.connect(0, 2);
  trio.deliver();
  ASSERT_TRUE(trio.members[0].kept_from);
  EXPECT_GT(*trio.members[0].kept_from, 30U) << "c has asked for that last";
  EXPECT_FALSE(trio.members[1].kept_from);
  for (int i = 0; i < 20; ++i) trio.at(0).tick();  // c is not heard
  EXPECT_EQ(trio.members[0].kept_from, ~0ULL);
  trio.at(2).tick();
  trio.deliver();
  EXPECT_EQ(trio.members[0].kept_from, 38U);
  trio.disconnect(0, 2);
  EXPECT_EQ(trio.members[0].kept_from, ~0ULL);
}

// All stop. c was in their view, and comes back with a log that ends below where theirs begin.
void start_all_again(RecoveryTrio& trio) {
  run_two_that_have_released(trio);
  const auto views = trio.members[0].on_disk();
  for (const std::uint32_t slot : {0U, 1U}) trio.stop(slot);
  // As if c had been admitted to view 6, and had stopped before its log was whole.
  std::vector<ViewRecord> chain = views->chain;
  chain.push_back(view_of(6, {0, 1, 2}, 38));
  for (const std::uint32_t slot : {0U, 2U}) {
    trio.start(slot, views_at(slot, chain),
               slot == 2 ? std::vector<std::uint64_t>{3, 3} : std::vector<std::uint64_t>{});
  }
  trio.start(1, views_at(1, chain));
  trio.connect_all();
}

void expect_found_from_30(RecoveryTrio& trio) {
  for (const std::uint32_t slot : {0U, 1U, 2U}) {
    ASSERT_EQ(trio.at(slot).stage(), Stage::founds) << trio.at(slot).why();
  }
  RecoveryTrio::Member& c = trio.members[2];
  EXPECT_EQ(c.writer->first(), 30U);
  EXPECT_EQ(c.writer->next(), 38U);
  EXPECT_EQ(c.snapshots->newest(), 30U);
  trio.found({0, 1, 2});
  EXPECT_EQ(c.whole_at, 38U);
}

TEST(RecoverySnapshots, ComeToAFollowerInARestartOfAll) {
  RecoveryTrio trio;
  start_all_again(trio);
  trio.deliver();
  trio.tick();
  expect_found_from_30(trio);
}

// The answer takes so long that the leader begins again.
TEST(RecoverySnapshots, AreAskedForOnceHoweverOftenARestartBegins) {
  RecoveryTrio trio;
  start_all_again(trio);
  std::vector<RecoveryTrio::Sent> held;
  std::size_t pieces = 0;
  std::set<std::uint64_t> offsets;
  const auto deliver = [&](bool holds) {
    while (!trio.wire.empty()) {
      const auto message = decode(trio.wire.front().bytes);
      if (holds && std::holds_alternative<FetchSnapshot>(*message)) {
        held.push_back(trio.wire.front());
        trio.wire.pop_front();
        continue;
      }
      if (const auto* const piece = std::get_if<SnapshotPiece>(&*message)) {
        ++pieces;
        offsets.insert(piece->offset);
      }
      ASSERT_TRUE(trio.deliver_one());
    }
  };
  for (int ticks = 0; held.size() < 3; ++ticks) {
    ASSERT_LT(ticks, 20);
    deliver(true);
    trio.at(0).tick();
  }
  deliver(true);
  trio.wire.insert(trio.wire.end(), held.begin(), held.end());
  deliver(false);
  EXPECT_GT(offsets.size(), 30U);
  EXPECT_LE(pieces, offsets.size() + held.size());
  expect_found_from_30(trio);
}

}  // namespace
}  // namespace tutti::restart
