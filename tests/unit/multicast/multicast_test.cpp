/// The predicates of one member over a forged table. I1: view_state.hpp; I2: stability.hpp; I3:
/// round_robin.hpp; I4: own_space.hpp.
#include "multicast/multicast.hpp"

#include <gtest/gtest.h>

#include "unit/multicast/forged_member.hpp"

namespace tutti::testing {
namespace {

TEST(Multicast, DoesNothingInASilentGroup) {
  ForgedTable table({});
  ForgedMember member(table, 1);
  EXPECT_FALSE(member.step());
  EXPECT_FALSE(member.out.control);
  EXPECT_EQ(member.out.data.count, 0U);
}

TEST(Multicast, I1RaisesReceivedAsFarAsTheSentWordSays) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 3, .rounds = 5});
  EXPECT_TRUE(member.step());
  EXPECT_EQ(table.received(0, 2), 5U);
  EXPECT_EQ(table.received(0, 1), 0U);
  EXPECT_EQ(member.bounds(2).records, 3U);
  EXPECT_EQ(member.bounds(2).known, 5U);
}

TEST(Multicast, I1KnowsAllRoundsOfAFinishedSender) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 3, .rounds = 5, .finished = true});
  member.step();
  EXPECT_EQ(table.received(0, 2), kNoRound);
  EXPECT_EQ(member.bounds(2).records, 3U);
}

TEST(Multicast, TakesNewsOfAllSendersInOneStepAndOnePush) {
  ForgedTable table({.members = 4, .sender_ranks = {3, 1}});
  ForgedMember member(table, 0);
  table.sent(0, {.records = 7, .rounds = 7});
  table.sent(1, {.records = 2, .rounds = 7});
  EXPECT_TRUE(member.step());
  EXPECT_TRUE(member.out.control);
  EXPECT_EQ(member.out.data.count, 0U) << "it is no sender";
  EXPECT_EQ(member.counters.received_messages.get(), 9U);
  EXPECT_EQ(member.counters.receive.snapshot().batches, 1U);
  EXPECT_FALSE(member.step());
  EXPECT_FALSE(member.out.control);
}

// Nobody else wakes a delivery thread, where rows are shared and so nothing lands.
TEST(Multicast, CallsItProgressIfARecordHasBecomeStable) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 3, .rounds = 5});
  EXPECT_TRUE(member.step());
  EXPECT_FALSE(member.step());
  table.received(1, 2, 5);
  EXPECT_FALSE(member.step()) << "member 2 has still to say so";
  table.received(2, 2, 5);
  EXPECT_TRUE(member.step());
  EXPECT_EQ(member.bounds(2).stable, 5U);
  EXPECT_FALSE(member.out.control) << "there is nothing to tell";
  EXPECT_FALSE(member.step());
}

TEST(Multicast, IgnoresWordsThatAreOlder) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 3, .rounds = 5});
  member.step();
  table.sent(2, {.records = 2, .rounds = 4});
  EXPECT_FALSE(member.step());
  EXPECT_EQ(table.received(0, 2), 5U);
  EXPECT_FALSE(member->violation());
}

TEST(Multicast, NamesTheMemberThatWritesAnImpossibleWordAndStops) {
  for (const SentState& word :
       {SentState{.records = 17, .rounds = 17}, SentState{.records = 2, .rounds = 1},
        SentState{.records = 0, .rounds = 1ULL << 29}}) {
    ForgedTable table({.members = 4, .sender_ranks = {0, 3}});
    ForgedMember member(table, 0);
    table.sent(1, word);
    EXPECT_TRUE(member.step()) << "the driver looks for it after a step that did something";
    ASSERT_TRUE(member->violation());
    EXPECT_EQ(member->violation()->rank, Rank{3}) << "the rank, not the index";
    EXPECT_EQ(member.bounds(1).known, 0U);
    member.commit();
    EXPECT_FALSE(member.step());
    EXPECT_FALSE(member.out.control);
    EXPECT_EQ(table.sent_word(0), 0U);
  }
}

TEST(Multicast, PutsCommittedRecordsIntoTheOutboxAndThenItsSentWord) {
  ForgedTable table({});
  ForgedMember member(table, 1);
  ASSERT_TRUE(member.commit(16) && member.commit(0));
  EXPECT_TRUE(member.step());
  ASSERT_EQ(member.out.data.count, 1U);
  EXPECT_EQ(member.out.data.at[0].begin_granule, 0U);
  EXPECT_EQ(member.out.data.at[0].granules, 4U);
  EXPECT_TRUE(member.out.control);
  EXPECT_EQ(table.sent_word(1), pack({.records = 2, .rounds = 2}));
  EXPECT_EQ(table.received(1, 1), 2U) << "it has its own";
}

TEST(Multicast, PushesABatchThatWrapsInTwoPieces) {
  ForgedTable table({.members = 1, .sender_ranks = {0}});
  ForgedMember member(table, 0);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(member.commit(128));  // 17 granules each
  member.step();
  member->set_delivered(3);
  member.step();
  ASSERT_TRUE(member.commit(8) && member.commit(128));  // at 51; then a pad of 11
  member.step();
  ASSERT_EQ(member.out.data.count, 2U);
  EXPECT_EQ(member.out.data.at[0].begin_granule, 51U);
  EXPECT_EQ(member.out.data.at[0].granules, 13U);
  EXPECT_EQ(member.out.data.at[1].begin_granule, 0U);
  EXPECT_EQ(member.out.data.at[1].granules, 17U);
}

TEST(Multicast, PushesABatchThatEndsWithTheRingInOnePiece) {
  ForgedTable table({.members = 1, .sender_ranks = {0}});
  ForgedMember member(table, 0);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(member.commit(31 * 8));
  member.step();
  ASSERT_EQ(member.out.data.count, 1U);
  EXPECT_EQ(member.out.data.at[0].granules, 64U);
}

TEST(Multicast, LeavesTheRestOfALargeBatchToTheNextStep) {
  constexpr std::uint32_t kGranules = 4 * kSendBatchBytes / kGranule;
  ForgedTable table({.ring_granules = kGranules, .window_records = 1024});
  ForgedMember member(table, 0);
  constexpr std::uint32_t kBytes = kSendBatchBytes / 4 - 8;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(member.commit(kBytes));
  for (const std::uint64_t sent : {4U, 8U, 10U}) {
    EXPECT_TRUE(member.step());
    EXPECT_EQ(table.sent_word(0), pack({.records = sent, .rounds = sent}));
  }
}

TEST(Multicast, I2CallsARoundStableOnceEveryMemberHasIt) {
  ForgedTable table({.members = 4, .sender_ranks = {1, 2}});
  ForgedMember member(table, 0);
  table.sent(0, {.records = 9, .rounds = 9});
  table.received(1, 0, 9);
  table.received(2, 0, 4);
  table.received(3, 0, 6);
  member.step();
  EXPECT_EQ(member.bounds(0).stable, 4U) << "the slowest member";
  table.received(2, 0, 8);
  member.step();
  EXPECT_EQ(member.bounds(0).stable, 6U);
  table.received(2, 0, 9);
  table.received(3, 0, 9);
  member.step();
  EXPECT_EQ(member.bounds(0).stable, 9U);
}

TEST(Multicast, I2CountsMembersThatDoNotSend) {
  ForgedTable table({.members = 3, .sender_ranks = {0}});
  ForgedMember member(table, 0);
  member.commit();
  member.step();
  table.received(1, 0, 1);
  member.step();
  EXPECT_EQ(member.bounds(0).stable, 0U);
  table.received(2, 0, 1);
  member.step();
  EXPECT_EQ(member.bounds(0).stable, 1U);
}

TEST(Multicast, I2CountsItself) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.received(1, 2, 5);
  table.received(2, 2, 5);
  member.step();
  EXPECT_EQ(member.bounds(2).stable, 0U) << "the others are ahead of us";
  table.sent(2, {.records = 3, .rounds = 3});
  member.step();
  EXPECT_EQ(member.bounds(2).stable, 3U);
}

TEST(Multicast, I2KnowsNullsBeforeTheyAreStable) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(1, {.records = 0, .rounds = 6});
  member.step();
  EXPECT_EQ(member.bounds(1).known, 6U);
  EXPECT_EQ(member.bounds(1).records, 0U);
  EXPECT_EQ(member.bounds(1).stable, 0U);
}

TEST(Multicast, I2NeverTakesStabilityBack) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(1, {.records = 6, .rounds = 6});
  table.received(1, 1, 5);
  table.received(2, 1, 5);
  member.step();
  table.received(2, 1, 3);
  member.step();
  EXPECT_EQ(member.bounds(1).stable, 5U);
}

TEST(Multicast, AcknowledgesWhatWasConsumedAtLevelUnordered) {
  ForgedTable table({.level = Level::unordered});
  ForgedMember member(table, 0);
  table.sent(1, {.records = 6, .rounds = 6});
  member.step();
  EXPECT_EQ(member.bounds(1).stable, 6U);
  EXPECT_EQ(table.received(0, 1), 0U);
  EXPECT_FALSE(member.out.control) << "nobody asked";
  member->set_consumed(SenderIndex{1}, 4);
  EXPECT_TRUE(member.step());
  EXPECT_TRUE(member.out.control);
  EXPECT_EQ(table.received(0, 1), 4U);
}

TEST(Multicast, I4ReleasesWhatEveryMemberHasDelivered) {
  ForgedTable table({});
  ForgedMember member(table, 1);
  for (int i = 0; i < 4; ++i) member.commit();
  member.step();
  // The next to deliver is (round, sender); ours of round 2 is behind (2, 2), not behind (2, 1).
  member->set_delivered(2 * 3 + 2);
  table.delivered(0, 2 * 3 + 2);
  member.step();
  EXPECT_EQ(member.ring().released(), 0U) << "member 2 has delivered nothing";
  table.delivered(2, 2 * 3 + 1);
  EXPECT_TRUE(member.step());
  EXPECT_EQ(member.ring().released(), 2U);
  table.delivered(2, 2 * 3 + 2);
  member.step();
  EXPECT_EQ(member.ring().released(), 3U);
  member.step();
  EXPECT_EQ(member.ring().released(), 3U);
}

// Whoever is behind has earlier views' records to read; the word that says so is that of this view.
TEST(Multicast, I4ReleasesNothingBeforeAllHaveDeliveredTheViewsBefore) {
  ForgedTable table({});
  std::byte* const last_epoch = table.other_control().data() + ControlWords::kEpoch;
  store_cell(last_epoch, 41);
  for (const std::uint32_t m : {0, 1}) table.epoch(m, 42);
  table.epoch(2, 41);
  table.drained(2);
  ForgedMember member(table, 1, 42);
  member.commit();
  member.step();
  member->set_delivered(3);
  for (const std::uint32_t other : {0, 2}) table.delivered(other, 3);
  const auto releases = [&] {
    member.step();
    EXPECT_EQ(table.reclaimed(1), member.ring().released() == 0 ? 0U : 42U) << "Y5";
    EXPECT_EQ(NativeMemory::load(last_epoch), member.ring().released() == 0 ? 41U : 0U) << "Y5";
    return member.ring().released() == 1;
  };
  EXPECT_FALSE(releases()) << "0 has earlier messages to deliver";
  table.drained(0);
  EXPECT_FALSE(releases()) << "2 has said so of another view";
  table.epoch(2, 42);
  EXPECT_FALSE(releases()) << "and so do we";
  member->set_drained();
  EXPECT_TRUE(table.has_drained(1));
  EXPECT_TRUE(releases());
}

TEST(Multicast, I4ReleasesOnlyOnceItsOwnDeliveryIsThere) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  member.commit();
  member.step();
  table.delivered(1, 3);
  table.delivered(2, 3);
  member.step();
  EXPECT_EQ(member.ring().released(), 0U);
  member->set_delivered(1);
  member.step();
  EXPECT_EQ(member.ring().released(), 1U);
}

TEST(Multicast, I4CountsNoRecordsForItsNulls) {
  ForgedTable table({.members = 2, .sender_ranks = {0, 1}});
  ForgedMember member(table, 0);
  table.sent(1, {.records = 5, .rounds = 5});
  member.step();  // nulls in rounds 0 .. 4
  member.commit();
  member.commit();
  member.step();  // records in rounds 5 and 6
  table.delivered(1, 2 * 6);
  member->set_delivered(2 * 6);
  member.step();
  EXPECT_EQ(member.ring().released(), 1U);
}

TEST(Multicast, I4ReleasesWhatWasConsumedEverywhereAtLevelUnordered) {
  ForgedTable table({.level = Level::unordered});
  ForgedMember member(table, 1);
  for (int i = 0; i < 4; ++i) member.commit();
  member.step();
  table.received(0, 1, 3);
  table.received(2, 1, 2);
  member.step();
  EXPECT_EQ(member.ring().released(), 0U) << "it has not consumed its own";
  member->set_consumed(SenderIndex{1}, 4);
  member.step();
  EXPECT_EQ(member.ring().released(), 2U);
}

TEST(Multicast, PublishesItsDeliveryWithTheNextPush) {
  ForgedTable table({});
  ForgedMember member(table, 2);
  member->set_delivered(7);
  EXPECT_TRUE(member.step());
  EXPECT_TRUE(member.out.control);
  EXPECT_EQ(table.delivered(2), 7U);
  member->set_delivered(7);
  EXPECT_FALSE(member.step());
}

TEST(Multicast, FinishesAfterItsLastRecord) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  SendRing::Space open;
  ASSERT_EQ(member.ring().claim(8, open), SendRing::Outcome::ok);
  member.ring().close();
  EXPECT_FALSE(member.step()) << "a claim is open";
  member.ring().commit(open);
  EXPECT_TRUE(member.step());
  EXPECT_EQ(table.sent_word(0), pack({.records = 1, .rounds = 1, .finished = true}));
  EXPECT_EQ(table.received(0, 0), kNoRound);
  EXPECT_TRUE(member->finished());
  EXPECT_FALSE(member.step()) << "once";
}

TEST(Multicast, IsCompleteOnceEveryMemberHasDeliveredAll) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.delivered(1, kDeliveredAll);
  table.delivered(2, 3);
  member->set_delivered(kDeliveredAll);
  member.step();
  EXPECT_FALSE(member->complete());
  EXPECT_TRUE(member->complete_at(Rank{1}));
  EXPECT_FALSE(member->complete_at(Rank{2}));
  table.delivered(2, kDeliveredAll);
  member.step();
  EXPECT_TRUE(member->complete());
}

TEST(Multicast, IsNotCompleteBeforeItsOwnDeliveryIs) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.delivered(1, kDeliveredAll);
  table.delivered(2, kDeliveredAll);
  member.step();
  EXPECT_FALSE(member->complete());
}

TEST(Multicast, NeedsNobodyInAGroupOfOne) {
  ForgedTable table({.members = 1, .sender_ranks = {0}});
  ForgedMember member(table, 0);
  member.commit();
  member.step();
  EXPECT_EQ(member.bounds(0).stable, 1U);
  member->set_delivered(1);
  member.step();
  EXPECT_EQ(member.ring().released(), 1U);
}

TEST(MulticastDeathTest, RefusesADeliveryThatGoesBack) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  member->set_delivered(7);
  EXPECT_DEATH(member->set_delivered(6), "broken invariant");
}

}  // namespace
}  // namespace tutti::testing
