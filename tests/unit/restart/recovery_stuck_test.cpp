// A node that joins waits for nobody for ever: neither for a member that does not answer it, nor
// for a view that the others are done with, nor for logs that grow as fast as it fetches.
#include <gtest/gtest.h>

#include <variant>

#include "unit/restart/recovery_trio.hpp"

namespace tutti::restart {
namespace {

using testing::log_of;
using testing::RecoveryTrio;
using testing::view_of;
using testing::views_at;
using Installed = Recovery::Installed;
using Stage = Recovery::Stage;

// What was said is such a message.
template <class Message>
std::optional<Message> said(const RecoveryTrio::Sent& sent) {
  std::optional<RestartMessage> message = decode(sent.bytes);
  EXPECT_TRUE(message);
  if (!message || !std::holds_alternative<Message>(*message)) return {};
  return std::get<Message>(std::move(*message));
}

// c asked to be admitted when the others ran in view 5. They have gone on without it in view 6, and
// all members of view 7, which admits it, have it on disk before c does: nobody tells of view 6.
TEST(RecoveryStuck, AViewThatIsConfirmedAlreadyCanBeEntered) {
  RecoveryTrio trio;
  trio.run_two(5);
  trio.start(2, views_at(2), std::vector<std::uint64_t>(5, 3));
  trio.connect_all();
  trio.deliver();
  ASSERT_TRUE(trio.at(2).may_join());
  ASSERT_EQ(trio.at(2).views().installed().id, 5U);
  const ViewRecord admits = view_of(7, {0, 1, 2}, 5);
  for (const ViewRecord& view : {view_of(6, {0, 1}, 5), admits}) {
    for (const std::uint32_t slot : {0U, 1U})
      ASSERT_EQ(trio.at(slot).install(view), Installed::yes);
    for (const std::uint32_t slot : {0U, 1U}) trio.at(slot).confirm(view.id);
    trio.deliver();
  }
  trio.enter(2, admits);
  EXPECT_EQ(trio.at(2).stage(), Stage::runs);
  EXPECT_EQ(trio.members[2].whole_at, 5U);
  EXPECT_EQ(trio.members[2].on_disk()->chain, std::vector{admits});
}

// c asks a for a record that is on no disk yet. The others go on without a, whose link stays.
TEST(RecoveryStuck, AnotherMemberIsAskedWhenTheFirstIsNoMemberAnyMore) {
  RecoveryTrio trio;
  trio.run_two(5);
  trio.start(2, views_at(2), std::vector<std::uint64_t>(5, 3));
  trio.connect_all();
  trio.deliver();
  const ViewRecord view = view_of(6, {0, 1, 2}, 6);
  for (const std::uint32_t slot : {0U, 1U}) ASSERT_EQ(trio.at(slot).install(view), Installed::yes);
  trio.deliver();
  trio.enter(2, view);
  ASSERT_TRUE(trio.at(0).awaits_logs());
  trio.members[1].append(1, 5);
  ASSERT_EQ(trio.at(1).install(view_of(7, {1, 2}, 6)), Installed::yes);
  trio.deliver();
  EXPECT_EQ(trio.members[2].whole_at, 6U);
  EXPECT_EQ(trio.members[2].writer->digest(), trio.members[1].writer->digest());
}

TEST(RecoveryStuck, AnotherMemberIsAskedWhenTheFirstDoesNotAnswer) {
  RecoveryTrio trio;
  trio.run_two(60);
  trio.start(2, views_at(2));
  trio.connect_all();
  while (!trio.wire.empty() && (trio.wire.front().to != 0 || !said<Fetch>(trio.wire.front()))) {
    const RecoveryTrio::Sent sent = trio.wire.front();
    trio.wire.pop_front();
    trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
  }
  ASSERT_FALSE(trio.wire.empty());
  trio.members[0].hangs = true;
  for (int i = 0; i < 10; ++i) trio.tick();
  EXPECT_TRUE(trio.at(2).may_join()) << trio.at(2).why();
  EXPECT_EQ(trio.members[2].writer->next(), 60U);
}

TEST(RecoveryStuck, AnotherMemberIsAskedWhenTheFirstCannotReadItsLog) {
  RecoveryTrio trio;
  trio.run_two(60);
  trio.start(2, views_at(2));
  trio.members[0].reads_fail = true;
  trio.connect_all();
  trio.deliver();
  EXPECT_TRUE(trio.at(2).may_join()) << trio.at(2).why();
  EXPECT_EQ(trio.members[2].writer->next(), 60U);
  EXPECT_FALSE(trio.at(0).error());
}

// Whenever c asks what the members have, they have logged more than may be lacking in the end: at
// first less each time than it has fetched meanwhile, and then as much.
TEST(RecoveryStuck, ANodeThatGetsNoNearerJoinsAllTheSame) {
  constexpr std::size_t kBytes = 3U << 19;
  constexpr int kMost = 20;
  RecoveryTrio trio;
  trio.segment_bytes = 4U << 20;
  trio.run_two(1);
  trio.start(2, views_at(2));
  trio.connect_all();
  int asked = 0;
  while (!trio.wire.empty() && asked < kMost) {
    const RecoveryTrio::Sent sent = trio.wire.front();
    trio.wire.pop_front();
    if (sent.to == 0 && said<Hello>(sent)) {
      ++asked;
      for (int more = asked == 1 ? 7 : asked == 2 ? 3 : 1; more > 0; --more) {
        for (const std::uint32_t slot : {0U, 1U}) trio.members[slot].append(1, 5, kBytes);
      }
    }
    trio.members[sent.to].recovery->receive(sent.from, sent.bytes);
  }
  EXPECT_TRUE(trio.at(2).may_join());
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(trio.members[2].writer->next(), 1U + 7 + 3 + 1 + 1);
}

// c is admitted while it lacks three records; then those that have them crash.
void lose_all_but_c(RecoveryTrio& trio) {
  trio.run_two(5);
  trio.start(2, views_at(2), std::vector<std::uint64_t>(5, 3));
  trio.connect_all();
  trio.deliver();
  EXPECT_TRUE(trio.at(2).may_join());
  const ViewRecord view = view_of(6, {0, 1, 2}, 8);
  for (RecoveryTrio::Member& one : trio.members) {
    if (one.slot != 2) one.append(3, 5);
    EXPECT_EQ(one.recovery->install(view), Installed::yes);
    one.recovery->begin(0, 8);
  }
  for (const std::uint32_t slot : {0U, 1U}) trio.stop(slot);
  trio.tick();
  EXPECT_FALSE(trio.members[2].whole_at);
}

// Each has what the other needs: b is admitted once its log was compared with that of c.
TEST(RecoveryStuck, AMemberFetchesFromNodesThatComeBackWhatOnlyTheyHave) {
  RecoveryTrio trio;
  lose_all_but_c(trio);
  trio.start(1, trio.members[1].on_disk(), {});
  trio.members[1].append(1, 5);  // behind the cut, so none of the sequence
  trio.stop(1);
  trio.start(1, trio.members[1].on_disk());
  trio.connect(1, 2);
  for (int i = 0; i < 3; ++i) trio.tick();
  EXPECT_EQ(trio.members[2].whole_at, 8U);
  EXPECT_TRUE(trio.at(1).may_join()) << trio.at(1).why();
  EXPECT_EQ(trio.members[1].writer->next(), 8U);
  EXPECT_EQ(trio.members[2].writer->digest(), trio.members[1].writer->digest());
}

// Nothing tells whether records of view 4 come before view 6, or were left out.
TEST(RecoveryStuck, AMemberTakesNothingOfANodeThatWasInNoneOfItsViews) {
  RecoveryTrio trio;
  lose_all_but_c(trio);
  trio.at(2).confirm(6);
  trio.members[1].lose_disk();
  trio.start(1, views_at(1), {3, 3, 3, 3, 3, 4, 4, 4});
  trio.connect(1, 2);
  for (int i = 0; i < 3; ++i) trio.tick();
  EXPECT_EQ(trio.at(1).stage(), Stage::joins);
  EXPECT_EQ(trio.members[2].writer->next(), 5U);
}

// The members joined later, so that nobody has what comes before record 100.
TEST(RecoveryStuck, ALogThatBeginsLaterIsToldAsItIs) {
  RecoveryTrio trio;
  trio.start(0, views_at(0));
  trio.start(2, views_at(2));
  trio.connect(0, 2);
  const auto tells = [&]() -> std::optional<LogSummary> {
    trio.wire.clear();
    trio.at(2).tick();
    for (const RecoveryTrio::Sent& sent : trio.wire) {
      if (const auto hello = said<Hello>(sent); hello && sent.from == 2) return hello->told.logs[0];
    }
    return {};
  };
  LogSummary log = log_of({5, 5}, 100);
  log.whole_from = 100;
  trio.say(0, 2, Runs{{.views = views_at(0, {view_of(5, {0, 1}, 100)}), .logs = {log}}});
  std::optional<LogSummary> told = tells();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->whole_from, 100U);
  EXPECT_EQ(told->next, 100U);
  trio.say(0, 2, Records{"log", false, {{.seq = 100, .view = 5}, {.seq = 101, .view = 5}}});
  EXPECT_TRUE(trio.at(2).may_join());
  told = tells();
  ASSERT_TRUE(told);
  const auto on_disk = summarize(trio.members[2].disk, "/s/log", "log");
  ASSERT_TRUE(on_disk);
  EXPECT_EQ(*told, *on_disk);
}

}  // namespace
}  // namespace tutti::restart
