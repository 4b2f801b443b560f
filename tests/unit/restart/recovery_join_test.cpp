// A node that joins members which run, and what it makes of bytes that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/prng.hpp"
#include "log/format.hpp"
#include "unit/restart/recovery_trio.hpp"

namespace tutti::restart {
namespace {

using ::testing::HasSubstr;
using testing::log_of;
using testing::RecoveryTrio;
using testing::view_of;
using testing::views_at;
using Installed = Recovery::Installed;
using Stage = Recovery::Stage;

TEST(RecoveryJoin, ANodeWithoutADiskFetchesAllAndIsCountedFromTheNextViewOn) {
  RecoveryTrio trio;
  trio.run_two(20);
  trio.start(2, std::nullopt);
  trio.connect_all();
  trio.deliver();
  ASSERT_EQ(trio.at(2).stage(), Stage::joins);
  EXPECT_TRUE(trio.at(2).may_join());
  EXPECT_EQ(trio.at(2).why(), "waits to be admitted");
  EXPECT_EQ(trio.members[2].on_disk()->since, 6U);
  EXPECT_EQ(trio.members[2].writer->next(), 20U);
  trio.enter(2, view_of(6, {0, 1, 2}, 20));
  EXPECT_EQ(trio.members[2].whole_at, 20U);
  EXPECT_EQ(trio.members[2].writer->digest(), trio.members[0].writer->digest());
}

TEST(RecoveryJoin, ANodeThatWasAwayForAWhileCopiesLittleMoreThanItLacks) {
  constexpr std::size_t kRecords = 2000;
  constexpr std::size_t kBytes = 500;
  RecoveryTrio trio;
  trio.segment_bytes = 4U << 20;
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    trio.start(slot, views_at(slot));
    trio.members[slot].append(slot == 2 ? kRecords - kRecords / 100 : kRecords, 3, kBytes);
    trio.stop(slot);
    trio.start(slot, views_at(slot));
    if (slot == 1) {
      trio.connect_all();
      trio.deliver();
      trio.tick();
      trio.found({0, 1});
    }
  }
  trio.said_to[2] = 0;
  trio.connect_all();
  trio.deliver();
  trio.enter(2, view_of(6, {0, 1, 2}, kRecords));
  EXPECT_EQ(trio.members[2].whole_at, kRecords);
  EXPECT_EQ(trio.members[2].writer->digest(), trio.members[0].writer->digest());
  EXPECT_GE(trio.said_to[2], kRecords / 100 * kBytes);
  EXPECT_LE(trio.said_to[2], kRecords / 50 * kBytes);
}

// It gets no nearer, and is told so in each tick.
TEST(RecoveryJoin, ANodeThatFetchesAsFastAsTheOthersLogIsAdmitted) {
  constexpr std::size_t kBytes = 1U << 17;
  RecoveryTrio trio;
  trio.segment_bytes = 16U << 20;
  trio.run_two(1);
  trio.members[0].append(20, 5, kBytes);
  trio.start(2, std::nullopt);
  trio.connect(0, 2);
  for (int said = 0; !trio.at(2).may_join(); ++said) {
    ASSERT_LT(said, 500) << trio.at(2).why();
    ASSERT_TRUE(trio.deliver_one());
    trio.members[0].append(1, 5, kBytes);
    if (said % 10 == 0) trio.at(2).tick();
  }
}

// A record without data fills the log, too.
TEST(RecoveryJoin, ANodeThatFetchesEmptyRecordsAsFastAsTheOthersLogThemIsAdmitted) {
  constexpr std::size_t kInAPiece = 2000;
  RecoveryTrio trio;
  trio.segment_bytes = 16U << 20;
  trio.piece_bytes = log::bytes_of_record(0) * kInAPiece;
  trio.run_two(1);
  trio.members[0].append(5 * kInAPiece, 5, 0);
  trio.start(2, std::nullopt);
  trio.connect(0, 2);
  for (int said = 0; !trio.at(2).may_join(); ++said) {
    ASSERT_LT(said, 500) << trio.at(2).why();
    ASSERT_TRUE(trio.deliver_one());
    if (said % 2 == 0) trio.members[0].append(kInAPiece, 5, 0);
    if (said % 10 == 0) trio.at(2).tick();
  }
}

bool is_records(const RecoveryTrio::Sent& sent) {
  const auto message = decode(sent.bytes);
  return message && std::holds_alternative<Records>(*message);
}

TEST(RecoveryJoin, AMemberWhoseAnswersTakeLongIsHeard) {
  for (const int ticks : {1, 2, 3, 4, 5, 6, 10}) {  // that a message is under way
    RecoveryTrio trio;
    trio.run_two(60);
    trio.start(2, views_at(2));
    trio.connect(0, 2);
    std::deque<std::pair<int, RecoveryTrio::Sent>> late;  // and when each arrives
    int records = 0;
    for (int now = 0; !trio.at(2).may_join(); ++now) {
      ASSERT_LT(now, 100 * ticks) << trio.at(2).why();
      for (; !trio.wire.empty(); trio.wire.pop_front()) {
        late.emplace_back(now + ticks, trio.wire.front());
        records += trio.wire.front().to == 2 && is_records(trio.wire.front()) ? 1 : 0;
      }
      for (; !late.empty() && late.front().first <= now; late.pop_front()) {
        const RecoveryTrio::Sent& sent = late.front().second;
        trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
      }
      for (RecoveryTrio::Member& one : trio.members) one.recovery->tick();
    }
    EXPECT_EQ(trio.members[2].writer->digest(), trio.members[0].writer->digest());
    EXPECT_LT(records, 20 + 5) << "all of it is said once, and few pieces twice";
  }
}

// c was a member with the disk that it has lost, and perhaps of view 6, too.
TEST(RecoveryJoin, ANodeThatHasLostItsDiskWaitsUntilTheOthersHaveGoneOnWithoutIt) {
  RecoveryTrio trio;
  for (std::uint32_t slot = 0; slot < 3; ++slot) trio.start(slot, views_at(slot), {3});
  trio.connect_all();
  trio.deliver();
  trio.found({0, 1, 2});
  trio.stop(2);
  trio.members[2].lose_disk();
  trio.start(2, std::nullopt);
  trio.connect_all();
  trio.deliver();
  trio.tick();
  EXPECT_EQ(trio.members[2].writer->next(), 1U);
  EXPECT_FALSE(trio.at(2).may_join());
  EXPECT_FALSE(trio.members[2].on_disk());
  for (const std::uint32_t slot : {0U, 1U}) {
    ASSERT_EQ(trio.at(slot).install(view_of(6, {0, 1}, 1)), Installed::yes);
  }
  trio.deliver();
  EXPECT_TRUE(trio.at(2).may_join());
  EXPECT_EQ(trio.members[2].on_disk()->since, 7U);
}

// RY5. b was cut off from a and c, which went on without it; it has not stopped yet.
TEST(RecoveryJoin, AMemberThatWasLeftBehindIsNotJoined) {
  RecoveryTrio trio;
  trio.start(1, views_at(1), {3, 3, 3});
  trio.start(2, views_at(2), {3, 3, 3});
  trio.connect_all();
  trio.deliver();
  trio.tick();
  trio.found({1, 2});
  trio.stop(2);
  trio.members[2].lose_disk();
  trio.start(2, views_at(2, {view_of(7, {0, 2}, 2)}), {3, 3, 7});
  trio.connect_all();
  trio.deliver();
  trio.tick();
  EXPECT_EQ(trio.at(2).stage(), Recovery::Stage::back);
  EXPECT_EQ(trio.members[2].logs->summary(0).view_at(2), 7U);
  EXPECT_EQ(trio.at(2).why(), "view 7 of a, c: waits for a");
}

TEST(RecoveryJoin, WhatTheOthersDoNotHaveIsCut) {
  RecoveryTrio trio;
  trio.run_two(5);
  trio.members[0].append(4, 5);
  trio.members[1].append(4, 5);
  trio.start(2, views_at(2), std::vector<std::uint64_t>(8, 3));
  trio.connect_all();
  trio.deliver();
  EXPECT_TRUE(trio.at(2).may_join()) << trio.at(2).why();
  trio.enter(2, view_of(6, {0, 1, 2}, 9));
  EXPECT_EQ(trio.members[2].whole_at, 9U);
  EXPECT_EQ(trio.members[2].writer->digest(), trio.members[0].writer->digest());
  const auto names = trio.members[2].disk.list("/s/log");
  ASSERT_TRUE(names);
  EXPECT_TRUE(std::ranges::any_of(*names, [](auto& name) { return name.starts_with("cut-"); }));
}

// CU3: view 8 is confirmed, so nobody tells of the views before it, of which one left c's record
// out; and a has not written yet what it has in its place.
TEST(RecoveryJoin, ALogIsNotWholeBeforeItWasCompared) {
  RecoveryTrio trio;
  trio.start(0, views_at(0));
  trio.start(2, views_at(2), {3});
  trio.connect(0, 2);
  const Views views = views_at(0, {view_of(8, {0, 1}, 1)});
  const ViewRecord next = view_of(9, {0, 1, 2}, 1);
  trio.say(0, 2, Runs{{.views = views, .logs = {{.group = "log"}}}});
  EXPECT_FALSE(trio.at(2).may_join());
  EXPECT_EQ(trio.at(2).install(next), Installed::not_yet);
  EXPECT_EQ(trio.members[2].writer->next(), 1U);
  trio.say(0, 2, Runs{{.views = views, .logs = {log_of({7})}}});
  EXPECT_EQ(trio.members[2].writer->next(), 0U);
  trio.say(0, 2, Records{"log", false, {{.seq = 0, .view = 7}}});
  EXPECT_TRUE(trio.at(2).may_join());
  trio.wire.clear();
  trio.enter(2, next);
  EXPECT_EQ(trio.members[2].whole_at, 1U);
}

// The group begins for c with a number that no log has reached.
TEST(RecoveryJoin, TheLogIsHandedOverExactlyWhereTheGroupBegins) {
  RecoveryTrio trio;
  trio.run_two(50);
  trio.start(2, views_at(2), {3});
  trio.connect_all();
  trio.deliver();
  EXPECT_TRUE(trio.at(2).may_join());
  trio.members[0].append(30, 5);
  trio.members[1].append(10, 5);
  trio.enter(2, view_of(6, {0, 1, 2}, 100));
  EXPECT_FALSE(trio.members[2].whole_at);
  EXPECT_TRUE(trio.at(0).awaits_logs() || trio.at(1).awaits_logs());
  for (int i = 0; i < 20 && !trio.members[2].whole_at; ++i) {
    trio.members[0].append(3, 5);
    trio.members[1].append(3, 5);
    trio.deliver();
    trio.tick();
  }
  EXPECT_EQ(trio.members[2].whole_at, 100U);
  EXPECT_EQ(trio.members[2].writer->next(), 100U);
}

TEST(RecoveryJoin, AnotherMemberIsAskedWhenTheFirstGoesDown) {
  RecoveryTrio trio;
  trio.run_two(60);
  trio.start(2, views_at(2));
  trio.connect_all();
  for (int i = 0; i < 200 && trio.members[2].writer->next() < 10; ++i) {
    ASSERT_FALSE(trio.wire.empty());
    const RecoveryTrio::Sent sent = trio.wire.front();
    trio.wire.pop_front();
    trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
  }
  ASSERT_LT(trio.members[2].writer->next(), 60U);
  trio.disconnect(0, 2);
  trio.deliver();
  EXPECT_TRUE(trio.at(2).may_join());
  EXPECT_EQ(trio.members[2].writer->next(), 60U);
}

TEST(RecoveryJoin, WithoutMembersItIsBackOrFreshAgain) {
  RecoveryTrio trio;
  trio.run_two(60);
  trio.start(2, views_at(2));
  trio.connect_all();
  trio.deliver();
  ASSERT_EQ(trio.at(2).stage(), Stage::joins);
  trio.stop(0);
  EXPECT_EQ(trio.at(2).stage(), Stage::joins);
  trio.stop(1);
  EXPECT_EQ(trio.at(2).stage(), Stage::back);
  EXPECT_FALSE(trio.at(2).may_join());
  // What it was told is on its disk: view 5 is of a and b.
  EXPECT_THAT(trio.at(2).why(), HasSubstr("view 5 of a, b: waits for a and b"));

  RecoveryTrio other;
  other.run_two(60);
  other.start(2, std::nullopt);
  other.connect(0, 2);
  for (int i = 0; i < 6; ++i) {
    const RecoveryTrio::Sent sent = other.wire.front();
    other.wire.pop_front();
    other.members[sent.to].recovery->receive(sent.from, sent.bytes);
  }
  ASSERT_EQ(other.at(2).stage(), Stage::joins);
  ASSERT_FALSE(other.at(2).may_join());
  other.stop(0);
  EXPECT_EQ(other.at(2).stage(), Stage::fresh);
  EXPECT_FALSE(other.members[2].on_disk());
}

// b and c are new in view 6, and a has not written yet what comes before it.
TEST(RecoveryJoin, TwoThatJoinDoNotWaitForEachOther) {
  RecoveryTrio trio;
  trio.start(0, views_at(0, {view_of(3, {0})}), {3});
  trio.deliver();
  trio.tick();
  trio.found({0});
  trio.start(1, views_at(1, {view_of(3, {0})}), {3});
  trio.start(2, views_at(2, {view_of(3, {0})}), {3});
  trio.connect_all();
  trio.deliver();
  const ViewRecord view = view_of(6, {0, 1, 2}, 4);
  ASSERT_EQ(trio.at(0).install(view), Installed::yes);
  trio.deliver();
  trio.enter(1, view);
  trio.enter(2, view);
  trio.members[0].append(3, 5);
  trio.deliver();
  trio.tick();
  for (RecoveryTrio::Member& one : trio.members) EXPECT_EQ(one.writer->next(), 4U);
  EXPECT_EQ(trio.members[1].whole_at, 4U);
  EXPECT_EQ(trio.members[2].whole_at, 4U);
}

TEST(RecoveryJoin, RecordsThatDoNotFollowAreNotTaken) {
  RecoveryTrio trio;
  trio.run_two(3);
  trio.start(2, views_at(2), {3});
  trio.connect(0, 2);
  trio.wire.clear();
  constexpr auto kMost = ~std::uint64_t{0};
  LogSummary absurd{.group = "log", .whole_from = 0, .next = kMost, .sum = 1};
  absurd.runs = {{.view = 3, .first = 0, .sum = 0}, {.view = kMost, .first = kMost - 1, .sum = 0}};
  const Runs runs{{.views = views_at(0, {view_of(5, {0, 1}, 3)}), .logs = {absurd}}, true};
  for (const std::uint64_t seq : {std::uint64_t{0}, std::uint64_t{2}, kMost - 1, kMost}) {
    trio.say(0, 2, runs);
    trio.say(0, 2, Records{"log", false, {{.seq = seq, .view = kMost}}});
    trio.say(0, 2, Records{"other", false, {{.seq = 1, .view = 3}}});
    trio.wire.clear();
    EXPECT_EQ(trio.members[2].writer->next(), 1U);
    EXPECT_FALSE(trio.at(2).error());
  }
  // It says that its log ends with another view than the record that it sends.
  trio.say(0, 2, runs);
  trio.say(0, 2, Records{"log", false, {{.seq = 1, .view = 4}}});
  trio.wire.clear();
  trio.say(0, 2, Runs{{.views = views_at(0, {view_of(5, {0, 1}, 3)}), .logs = {log_of({3, 3})}}});
  EXPECT_EQ(trio.members[2].writer->next(), 1U);
  EXPECT_FALSE(trio.at(2).error());
}

// Whatever arrives, in whatever stage: nobody crashes, and the logs stay logs of this group.
TEST(RecoveryJoin, BytesThatCannotBeChangeNothing) {
  std::vector<std::vector<std::byte>> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Prng random(seed + 1);
    RecoveryTrio trio;
    trio.run_two(10);
    seed % 2 == 0 ? trio.start(2, std::nullopt) : trio.start(2, views_at(2), {3, 3});
    trio.connect_all();
    for (int i = 0; i < 300 && !trio.wire.empty(); ++i) {
      const RecoveryTrio::Sent sent = trio.wire.front();
      trio.wire.pop_front();
      seen.push_back(sent.bytes);
      std::vector<std::byte> bytes = seen[random.below(seen.size())];
      if (random.one_in(2) && !bytes.empty()) bytes.resize(random.below(bytes.size()));
      if (random.one_in(2)) bytes.push_back(static_cast<std::byte>(random.next()));
      for (std::uint64_t flips = random.below(4); flips > 0 && !bytes.empty(); --flips) {
        bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
      }
      const auto what = decode(bytes);
      // Flipped bits of a log's runs or of views can be those of another group: links have checks.
      if (!what || std::holds_alternative<Progress>(*what)) {
        trio.members[sent.to].recovery->receive(sent.from, bytes);
      }
      trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
    }
    trio.deliver();
    trio.tick();
    EXPECT_TRUE(trio.at(2).may_join()) << trio.at(2).why();
    for (RecoveryTrio::Member& one : trio.members) {
      EXPECT_EQ(one.writer->digest(), trio.members[0].writer->digest());
      EXPECT_FALSE(one.recovery->error());
    }
  }
}

// What can be, but is not so: it may be believed, and must not crash or hang.
TEST(RecoveryJoin, ForgedMessagesEndNothingButTheNodeThatTheyReach) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Prng random(seed + 1000);
    RecoveryTrio trio;
    trio.run_two(10);
    trio.start(2, views_at(2), {3, 3});
    trio.connect_all();
    for (int i = 0; i < 200 && !trio.wire.empty(); ++i) {
      RecoveryTrio::Sent sent = trio.wire.front();
      trio.wire.pop_front();
      for (std::uint64_t flips = random.below(3); flips > 0; --flips) {
        sent.bytes[random.below(sent.bytes.size())] = static_cast<std::byte>(random.below(5));
      }
      trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
    }
    trio.tick();
    for (RecoveryTrio::Member& one : trio.members) {
      const auto log = summarize(one.disk, "/s/log", "log");
      EXPECT_TRUE(log);
    }
  }
}

}  // namespace
}  // namespace tutti::restart
