/// I3 of round_robin.hpp, and the four properties that [Spindle, 3.3] asks of null-sends.
#include <gtest/gtest.h>

#include <deque>

#include "base/prng.hpp"
#include "unit/multicast/forged_member.hpp"

namespace tutti::testing {
namespace {

/// Several members over one table; they see one another's words at once. All of them send.
struct Players {
  explicit Players(std::uint32_t count) : table(options_of(count)), newest_(count) {
    for (std::uint32_t m = 0; m < count; ++m) members.emplace_back(table, m);
  }

  static ForgedOptions options_of(std::uint32_t count) {
    ForgedOptions options{.members = count, .sender_ranks = {}};
    for (std::uint32_t m = 0; m < count; ++m) options.sender_ranks.push_back(m);
    return options;
  }

  bool step(std::uint32_t m) {
    const SentState before = sent(m);
    const bool worked = members[m].step();
    if (const std::uint64_t fresh = sent(m).records - before.records; fresh != 0) {
      newest_[m] = before.rounds + fresh;
    }
    return worked;
  }

  /// Steps everybody, in turn, until nobody finds anything. Returns the steps that did.
  std::uint64_t settle() {
    std::uint64_t worked = 0;
    for (bool quiet = false; !quiet;) {
      quiet = true;
      for (std::uint32_t m = 0; m < members.size(); ++m) {
        if (!step(m)) continue;
        quiet = false;
        ++worked;
      }
    }
    return worked;
  }

  [[nodiscard]] SentState sent(std::uint32_t m) const {
    SentState state;
    EXPECT_NE(advance(state, table.sent_word(m), 1U << 20), SentChange::impossible);
    return state;
  }
  [[nodiscard]] std::uint64_t null_pushes() {
    std::uint64_t pushes = 0;
    for (ForgedMember& member : members) pushes += member.counters.null_pushes.get();
    return pushes;
  }
  /// The rounds of a sender up to its newest record.
  [[nodiscard]] std::uint64_t newest(std::uint32_t sender) const { return newest_[sender]; }

  ForgedTable table;
  std::deque<ForgedMember> members;

 private:
  std::vector<std::uint64_t> newest_;
};

TEST(NullSends, I3GivesUpARoundThatPrecedesTheNewestMessage) {
  ForgedTable table({});
  ForgedMember member(table, 1);
  table.sent(2, {.records = 1, .rounds = 1});
  EXPECT_TRUE(member.step());
  EXPECT_EQ(table.sent_word(1), pack({.records = 0, .rounds = 1}));
  EXPECT_EQ(member.out.data.count, 0U) << "a null takes no space";
  EXPECT_TRUE(member.out.control);
}

TEST(NullSends, I3OwesNoRoundThatFollowsTheNewestMessage) {
  ForgedTable table({});
  ForgedMember member(table, 1);
  table.sent(0, {.records = 1, .rounds = 1});
  member.step();
  EXPECT_EQ(table.sent_word(1), 0U);
  table.sent(0, {.records = 2, .rounds = 2});
  member.step();
  EXPECT_EQ(table.sent_word(1), pack({.records = 0, .rounds = 1}));
}

TEST(NullSends, I3AnswersInOneWordHoweverManyRoundsItOwes) {
  ForgedTable table({.window_records = 1024});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 1000, .rounds = 1000});
  member.step();
  EXPECT_EQ(table.sent_word(0), pack({.records = 0, .rounds = 1000}));
  EXPECT_EQ(member.counters.null_pushes.get(), 1U);
  EXPECT_EQ(member.counters.nulls_sent.get(), 1000U);
}

TEST(NullSends, I3StampsTheRecordAfterNullsWithItsRound) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 5, .rounds = 5});
  member.step();
  member.commit();
  member.step();
  const RecordHeader first = unpack_header(NativeMemory::load(table.ring(0).data()));
  EXPECT_TRUE(first.stamped());
  EXPECT_EQ(first.round, 5U);
  member.commit();
  member.step();
  const RecordHeader second = unpack_header(NativeMemory::load(table.ring(0).data() + 16));
  EXPECT_FALSE(second.stamped()) << "no null came before it";
}

TEST(NullSends, I3SendsNoneAtLevelUnordered) {
  ForgedTable table({.level = Level::unordered});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 5, .rounds = 5});
  member.step();
  EXPECT_EQ(table.sent_word(0), 0U);
}

TEST(NullSends, I3SendsNoneAfterTheEnd) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  member.ring().close();
  member.step();
  table.sent(2, {.records = 5, .rounds = 5});
  member.step();
  EXPECT_EQ(table.sent_word(0), pack({.records = 0, .rounds = 0, .finished = true}));
}

TEST(NullSends, I3AnswersTheLastMessageOfASenderThatFinished) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 5, .rounds = 5, .finished = true});
  member.step();
  EXPECT_EQ(table.sent_word(0), pack({.records = 0, .rounds = 5})) << "not its endless nulls";
}

// I3 in numbers: whatever the others have sent, our rounds reach the furthest position that
// precedes someone's newest message and no further.
TEST(NullSends, I3ReachesExactlyTheRoundsAsked) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const auto members = static_cast<std::uint32_t>(2 + random.below(5));
    ForgedOptions options{.members = members, .sender_ranks = {}, .window_records = 64};
    for (std::uint32_t m = 0; m < members; ++m) options.sender_ranks.push_back(members - 1 - m);
    const auto own = static_cast<std::uint32_t>(random.below(members));
    ForgedTable table(options);
    ForgedMember member(table, options.sender_ranks[own]);
    std::uint64_t own_rounds = 0;
    std::vector<std::uint64_t> rounds(members);
    for (int i = 0; i < 50; ++i) {
      for (std::uint32_t j = 0; j < members; ++j) {
        if (j == own || random.one_in(2)) continue;
        rounds[j] += random.below(20);
        table.sent(j, {.records = 0, .rounds = rounds[j]});
      }
      if (random.one_in(3) && member.commit(0)) ++own_rounds;
      member.step();
      for (std::uint32_t j = 0; j < members; ++j) {
        if (j == own || rounds[j] == 0) continue;
        const std::uint64_t newest = rounds[j] - 1;  // a round; ours precedes it if own < j
        own_rounds = std::max(own_rounds, own < j ? newest + 1 : newest);
      }
      ASSERT_EQ((table.sent_word(options.sender_ranks[own]) >> 32) & kRoundsMask, own_rounds);
    }
  }
}

TEST(NullSends, SenderInvarianceTheOthersGiveWayToALoneSender) {
  Players players(4);
  for (int i = 0; i < 10; ++i) {
    players.members[2].commit();
    players.members[2].commit();
    players.settle();
    const std::uint64_t sent = 2 * (static_cast<std::uint64_t>(i) + 1);
    for (ForgedMember& member : players.members) {
      EXPECT_EQ(member.bounds(2).stable, sent);
      EXPECT_GE(member.bounds(0).known, sent) << "before it in the order";
      EXPECT_GE(member.bounds(3).known, sent - 1) << "after it";
    }
    for (ForgedMember& member : players.members) member->set_delivered(4 * (sent - 1) + 3);
    players.settle();
    EXPECT_EQ(players.members[2].ring().released(), sent);
  }
}

TEST(NullSends, LowOverheadNoneWhereEverybodySends) {
  Players players(4);
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (ForgedMember& member : players.members) ASSERT_TRUE(member.commit());
    for (std::uint32_t m = 0; m < 4; ++m) players.step(m);
    players.settle();
    for (ForgedMember& member : players.members) member->set_delivered(4 * (round + 1));
    players.settle();
  }
  for (ForgedMember& member : players.members) {
    EXPECT_EQ(member.counters.nulls_sent.get(), 0U);
    EXPECT_EQ(member.counters.sent_messages.get(), 100U);
  }
}

TEST(NullSends, LowOverheadAMessageThatIsReadyTakesTheRound) {
  ForgedTable table({});
  ForgedMember member(table, 0);
  table.sent(2, {.records = 3, .rounds = 3});
  member.commit();
  member.commit();
  member.step();
  EXPECT_EQ(table.sent_word(0), pack({.records = 2, .rounds = 3})) << "two messages, one null";
  EXPECT_EQ(member.counters.null_pushes.get(), 0U) << "no push for the null alone";
}

// Whichever members send, each can deliver every message: nulls settle all positions before it.
TEST(NullSends, CorrectnessThePipelineNeverStalls) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const auto count = static_cast<std::uint32_t>(1 + random.below(5));
    Players players(count);
    for (int i = 0; i < 12; ++i) {
      ForgedMember& member = players.members[random.below(count)];
      if (random.one_in(10)) member.ring().close();
      member.commit(0);
      for (std::uint64_t n = random.below(6); n > 0; --n) {
        players.step(static_cast<std::uint32_t>(random.below(count)));
      }
    }
    players.settle();
    for (ForgedMember& member : players.members) {
      for (std::uint32_t j = 0; j < count; ++j) {
        if (players.newest(j) == 0) continue;
        ASSERT_GE(member.bounds(j).stable, players.newest(j));
        for (std::uint32_t s = 0; s < count; ++s) {
          ASSERT_GE(member.bounds(s).known, players.newest(j) - (s < j ? 0 : 1));
        }
      }
    }
  }
}

TEST(NullSends, QuiescenceAMessageIsAnsweredOnceAndANullNever) {
  for (std::uint32_t sender = 0; sender < 5; ++sender) {
    Players players(5);
    players.members[sender].commit();
    players.settle();
    EXPECT_EQ(players.null_pushes(), sender) << "those before it; round 0 of the others follows";
    EXPECT_EQ(players.settle(), 0U);
    players.members[sender].commit();
    players.settle();
    EXPECT_EQ(players.null_pushes(), sender + 4U);
    EXPECT_EQ(players.settle(), 0U);
  }
}

// Nulls stop at what messages ask for, also when everybody sees them in another order.
TEST(NullSends, QuiescenceNullsNeverPassTheMessagesThatAskedForThem) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const auto count = static_cast<std::uint32_t>(2 + random.below(5));
    Players players(count);
    std::uint64_t messages = 0;
    for (int i = 0; i < 12; ++i) {
      messages += players.members[random.below(count)].commit(0) ? 1 : 0;
      for (std::uint64_t n = random.below(8); n > 0; --n) {
        players.step(static_cast<std::uint32_t>(random.below(count)));
      }
    }
    players.settle();
    EXPECT_EQ(players.settle(), 0U);
    std::uint64_t nulls = 0;
    for (std::uint32_t m = 0; m < count; ++m) {
      nulls += players.members[m].counters.nulls_sent.get();
      EXPECT_LE(players.sent(m).rounds, messages);
    }
    EXPECT_LE(nulls, messages * (count - 1)) << "one per message and other sender";
  }
}

}  // namespace
}  // namespace tutti::testing
