#include "sst/sent_word.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t kWindow = 1024;

void expect_same(const SentState& actual, const SentState& expected) {
  EXPECT_EQ(actual.records, expected.records);
  EXPECT_EQ(actual.rounds, expected.rounds);
  EXPECT_EQ(actual.finished, expected.finished);
}

void expect_unchanged(SentState state, std::uint64_t word, SentChange change) {
  const SentState before = state;
  EXPECT_EQ(advance(state, word, kWindow), change);
  expect_same(state, before);
}

TEST(SentWord, CarriesWhatTheSenderPacked) {
  const SentState sent{.records = 3, .rounds = 5, .finished = true};
  SentState seen;
  EXPECT_EQ(advance(seen, pack(sent), kWindow), SentChange::advanced);
  expect_same(seen, sent);
}

TEST(SentWord, IsZeroBeforeAnythingIsSent) { EXPECT_EQ(pack({}), 0U); }

TEST(SentWord, SaysNothingNewTwice) {
  const SentState state{.records = 3, .rounds = 5};
  expect_unchanged(state, pack(state), SentChange::none);
  const SentState finished{.records = 3, .rounds = 5, .finished = true};
  expect_unchanged(finished, pack(finished), SentChange::none);
}

TEST(SentWord, GoesOnOverTheWrapOfRounds) {
  for (const std::uint64_t wraps : {1ULL, 2ULL, 12345ULL}) {
    const SentState before{.records = 7, .rounds = (wraps << 31) - 1};
    SentState seen = before;
    const SentState sent{.records = 8, .rounds = (wraps << 31) + 2};
    EXPECT_EQ(advance(seen, pack(sent), kWindow), SentChange::advanced);
    expect_same(seen, sent);
  }
}

TEST(SentWord, GoesOnOverTheWrapOfRecords) {
  for (const std::uint64_t wraps : {1ULL, 2ULL, 777ULL}) {
    SentState seen{.records = (wraps << 32) - 1, .rounds = 3 * (wraps << 32)};
    const SentState sent{.records = (wraps << 32) + 1, .rounds = 3 * (wraps << 32) + 2};
    EXPECT_EQ(advance(seen, pack(sent), kWindow), SentChange::advanced);
    expect_same(seen, sent);
  }
}

TEST(SentWord, KeepsTheFinishedFlagOutOfTheRounds) {
  SentState seen{.records = 0, .rounds = kRoundsMask};
  const SentState sent{.records = 0, .rounds = kRoundsMask + 1, .finished = true};
  EXPECT_EQ(advance(seen, pack(sent), kWindow), SentChange::advanced);
  expect_same(seen, sent);
}

TEST(SentWord, IsHarmlessWhenOlder) {
  const SentState now{.records = 1000, .rounds = 5000};
  expect_unchanged(now, pack({.records = 999, .rounds = 4999}), SentChange::none);
  expect_unchanged(now, pack({.records = 1000, .rounds = 4000}), SentChange::none);
  expect_unchanged(now, pack({}), SentChange::none);
}

TEST(SentWord, IsHarmlessWhenOlderThanTheEnd) {
  const SentState end{.records = 10, .rounds = 20, .finished = true};
  expect_unchanged(end, pack({.records = 9, .rounds = 19}), SentChange::none);
  expect_unchanged(end, pack({.records = 10, .rounds = 20}), SentChange::none);
}

TEST(SentWord, IsImpossibleWithMoreRecordsThanTheWindow) {
  const SentState now{.records = 50, .rounds = 60};
  expect_unchanged(now, pack({.records = 50 + kWindow + 1, .rounds = 60 + kWindow + 1}),
                   SentChange::impossible);
  SentState seen = now;
  EXPECT_EQ(advance(seen, pack({.records = 50 + kWindow, .rounds = 60 + kWindow}), kWindow),
            SentChange::advanced);
}

TEST(SentWord, IsImpossibleWithMoreRecordsThanRounds) {
  expect_unchanged({.records = 5, .rounds = 5}, pack({.records = 7, .rounds = 6}),
                   SentChange::impossible);
  expect_unchanged({.records = 5, .rounds = 5}, pack({.records = 6, .rounds = 5}),
                   SentChange::impossible);
}

TEST(SentWord, IsImpossibleWithFewerRecordsInLaterRounds) {
  expect_unchanged({.records = 5, .rounds = 9}, pack({.records = 4, .rounds = 10}),
                   SentChange::impossible);
}

TEST(SentWord, IsImpossibleAfterTheEnd) {
  const SentState end{.records = 5, .rounds = 9, .finished = true};
  expect_unchanged(end, pack({.records = 5, .rounds = 10, .finished = true}),
                   SentChange::impossible);
  expect_unchanged(end, pack({.records = 6, .rounds = 10}), SentChange::impossible);
}

TEST(SentWord, IsImpossibleFarAhead) {
  SentState seen{};
  EXPECT_EQ(advance(seen, pack({.records = 0, .rounds = kRoundsAtOnceMax}), kWindow),
            SentChange::advanced);
  EXPECT_EQ(seen.rounds, kRoundsAtOnceMax);
  expect_unchanged({}, pack({.records = 0, .rounds = kRoundsAtOnceMax + 1}),
                   SentChange::impossible);
}

TEST(SentWord, KnowsAllRoundsOfAFinishedSender) {
  EXPECT_EQ((SentState{.records = 1, .rounds = 4}).known_rounds(), 4U);
  EXPECT_EQ((SentState{.records = 1, .rounds = 4, .finished = true}).known_rounds(), kNoRound);
}

// A sender that goes through billions of rounds, and a reader that sees some of its words, some of
// them late.
TEST(SentWord, FollowsARandomSenderExactly) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    SentState sent;
    SentState seen;
    std::uint64_t late = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t records = random.below(kWindow + 1);
      sent.records += records;
      sent.rounds += records + (random.one_in(3) ? random.below(1 << 24) : 0);
      sent.finished = i == 1999;
      ASSERT_NE(advance(seen, pack(sent), kWindow), SentChange::impossible);
      expect_same(seen, sent);
      if (random.one_in(2)) late = pack(sent);
      ASSERT_EQ(advance(seen, i == 1999 ? pack(sent) : late, kWindow), SentChange::none);
      expect_same(seen, sent);
    }
    EXPECT_GT(sent.rounds, 1ULL << 32);
  }
}

// Whatever the word, a reader never goes back, nor ahead by more than a correct sender could.
TEST(SentWord, MovesOnlyWithinTheWindowOnRandomWords) {
  Prng random(1);
  SentState state{.records = (1ULL << 32) - 100, .rounds = (1ULL << 33) - 200};
  for (int i = 0; i < 200'000; ++i) {
    const SentState before = state;
    std::uint64_t word = random.next();
    if (random.one_in(2)) word = pack(state) + (word & 0x00000fff00000fffULL);
    const SentChange change = advance(state, word & ~kFinishedBit, kWindow);
    if (change != SentChange::advanced) {
      expect_same(state, before);
      continue;
    }
    ASSERT_LE(state.records - before.records, kWindow);
    ASSERT_LE(state.records - before.records, state.rounds - before.rounds);
    ASSERT_LT(state.rounds - before.rounds, 1ULL << 30);
  }
}

}  // namespace
}  // namespace tutti
