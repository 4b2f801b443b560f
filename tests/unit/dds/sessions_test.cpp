#include "dds/sessions.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace tutti::dds {
namespace {

constexpr SessionOpen kOpen{{1, 2}, 77};

ClientSample sample(std::uint64_t session, std::uint64_t request, std::uint64_t nonce = 77) {
  return {.session = session, .nonce = nonce, .request = request, .topic = 3, .timestamp_ns = 9};
}

SessionTable table_with_session_at_5(std::size_t sessions_max = 4) {
  SessionTable table(sessions_max);
  EXPECT_EQ(table.deliver(5, kOpen).status, SessionStatus::opened);
  return table;
}

TEST(SessionTable, ASessionHasThePositionOfItsOpenAsItsNumber) {
  SessionTable table(4);
  const SessionOutcome outcome = table.deliver(5, kOpen);
  EXPECT_EQ(outcome.status, SessionStatus::opened);
  EXPECT_EQ(outcome.session, 5U);
  EXPECT_EQ(outcome.client, kOpen.client);
  EXPECT_EQ(table.find(kOpen), 5U);
}

TEST(SessionTable, ARepeatedOpenOpensNoSecondSession) {
  SessionTable table = table_with_session_at_5();
  EXPECT_EQ(table.deliver(6, sample(5, 1)).status, SessionStatus::delivered);
  const SessionOutcome again = table.deliver(7, kOpen);
  EXPECT_EQ(again.session, 5U);
  EXPECT_EQ(again.last, 1U);
  EXPECT_EQ(table.size(), 1U);
}

TEST(SessionTable, DeliversEachRequestOnceAndInOrder) {
  SessionTable table = table_with_session_at_5();
  EXPECT_EQ(table.deliver(6, sample(5, 1)).status, SessionStatus::delivered);
  EXPECT_EQ(table.deliver(7, sample(5, 2)).position, 7U);
  const SessionOutcome repeated = table.deliver(8, sample(5, 1));
  EXPECT_EQ(repeated.status, SessionStatus::duplicate);
  EXPECT_EQ(repeated.position, 6U);
  const SessionOutcome early = table.deliver(9, sample(5, 4));
  EXPECT_EQ(early.status, SessionStatus::go_back);
  EXPECT_EQ(early.last, 2U);
  EXPECT_EQ(table.deliver(10, sample(5, 0)).status, SessionStatus::duplicate);
  EXPECT_EQ(table.deliver(11, sample(5, ~std::uint64_t{0})).status, SessionStatus::go_back);
  EXPECT_EQ(table.deliver(12, sample(5, 3)).status, SessionStatus::delivered);
}

// SE4.
TEST(SessionTable, ASampleOfADeletedTopicTakesItsTurnAndARepeatIsToldTheSame) {
  SessionTable table = table_with_session_at_5();
  EXPECT_FALSE(table.deliver(6, sample(5, 1)).dropped);
  const SessionOutcome dropped = table.deliver(7, sample(5, 2), false);
  EXPECT_EQ(dropped.status, SessionStatus::delivered);
  EXPECT_TRUE(dropped.dropped);
  auto copy = SessionTable::decode(table.encode(), 4);
  ASSERT_TRUE(copy) << copy.error().message;
  for (SessionTable* one : {&table, &*copy}) {
    EXPECT_FALSE(one->deliver(8, sample(5, 1)).dropped);
    const SessionOutcome again = one->deliver(9, sample(5, 2));
    EXPECT_EQ(again.status, SessionStatus::duplicate);
    EXPECT_EQ(again.position, 7U);
    EXPECT_TRUE(again.dropped);
  }
}

// SE3.
TEST(SessionTable, ARepeatOfWhatOnlyTookItsTurnIsNotToldThatItWasDelivered) {
  SessionTable table = table_with_session_at_5();
  ClientSample turn = sample(5, 1);
  turn.topic = kNoTopic;
  EXPECT_TRUE(table.deliver(6, turn).dropped);
  const SessionOutcome again = table.deliver(7, sample(5, 1));
  EXPECT_EQ(again.status, SessionStatus::duplicate);
  EXPECT_TRUE(again.dropped);
}

TEST(SessionTable, OneClientIdDoesNotFillIt) {
  SessionTable table(1000);
  std::uint64_t position = 1;
  for (std::uint64_t nonce = 1; nonce <= kSessionsOfClientMax; ++nonce) {
    EXPECT_EQ(table.deliver(position++, SessionOpen{{1, 2}, nonce}).status, SessionStatus::opened);
  }
  EXPECT_EQ(table.deliver(position++, SessionOpen{{1, 2}, 999}).status, SessionStatus::full);
  EXPECT_EQ(table.deliver(position++, SessionOpen{{1, 2}, 1}).status, SessionStatus::opened);
  EXPECT_EQ(table.deliver(position++, SessionOpen{{1, 3}, 999}).status, SessionStatus::opened);
}

TEST(SessionTable, RemembersAsManyPositionsAsAClientMayHaveUnanswered) {
  SessionTable table = table_with_session_at_5();
  for (std::uint64_t request = 1; request <= kPositionsKept + 1; ++request) {
    EXPECT_EQ(table.deliver(5 + request, sample(5, request)).status, SessionStatus::delivered);
  }
  EXPECT_EQ(table.deliver(100, sample(5, 2)).position, 7U);
  const SessionOutcome forgotten = table.deliver(101, sample(5, 1));
  EXPECT_EQ(forgotten.status, SessionStatus::duplicate);
  EXPECT_EQ(forgotten.position, std::nullopt);
}

TEST(SessionTable, ASessionOfAnotherClientOrSequenceIsExpired) {
  SessionTable table = table_with_session_at_5();
  EXPECT_EQ(table.deliver(6, sample(5, 1, 78)).status, SessionStatus::expired);
  EXPECT_EQ(table.deliver(7, sample(4, 1)).status, SessionStatus::expired);
  EXPECT_EQ(table.deliver(8, SessionClose{5, 78}).status, SessionStatus::expired);
  EXPECT_EQ(table.find(5)->last, 0U);
}

TEST(SessionTable, ExpiresASessionOnlyIfItDidNotGoOn) {
  SessionTable table = table_with_session_at_5();
  (void)table.deliver(6, sample(5, 1));
  EXPECT_EQ(table.deliver(7, SessionExpire{5, 0}).status, SessionStatus::kept);
  EXPECT_EQ(table.deliver(8, SessionExpire{5, 1}).status, SessionStatus::expired);
  EXPECT_EQ(table.deliver(9, sample(5, 2)).status, SessionStatus::expired);
  EXPECT_EQ(table.deliver(10, SessionExpire{5, 1}).status, SessionStatus::kept);
  EXPECT_EQ(table.deliver(11, kOpen).session, 11U);
}

TEST(SessionTable, RefusesMoreSessionsThanItMayHave) {
  SessionTable table = table_with_session_at_5(2);
  EXPECT_EQ(table.deliver(6, SessionOpen{{3, 4}, 1}).status, SessionStatus::opened);
  EXPECT_EQ(table.deliver(7, SessionOpen{{5, 6}, 1}).status, SessionStatus::full);
  EXPECT_EQ(table.deliver(9, SessionClose{6, 1}).status, SessionStatus::closed);
  EXPECT_EQ(table.deliver(10, SessionOpen{{5, 6}, 1}).session, 10U);
}

TEST(SessionTable, IsWhatItWasAfterItsStateWasSavedAndLoaded) {
  Prng random(3);
  SessionTable table(8);
  for (std::uint64_t position = 0; position < 3000; ++position) {
    const std::uint64_t nonce = random.below(12);
    const auto number = table.find(SessionOpen{{nonce, 0}, nonce});
    if (!number) {
      (void)table.deliver(position, SessionOpen{{nonce, 0}, nonce});
    } else if (random.one_in(90)) {
      (void)table.deliver(position, SessionExpire{*number, table.find(*number)->last});
    } else {
      (void)table.deliver(position, sample(*number, table.find(*number)->last + 1, nonce));
    }
    if (position % 100 != 0) continue;
    auto loaded = SessionTable::decode(table.encode(), 8);
    ASSERT_TRUE(loaded) << loaded.error().message;
    ASSERT_EQ(*loaded, table);
  }
}

TEST(SessionTable, RefusesAStateThatIsNone) {
  SessionTable table = table_with_session_at_5();
  (void)table.deliver(6, sample(5, 1));
  (void)table.deliver(7, SessionOpen{{8, 9}, 1});
  std::vector<std::byte> bytes = table.encode();
  EXPECT_FALSE(SessionTable::decode(bytes, 1));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(SessionTable::decode(std::span(bytes).first(size), 4)) << size;
  }
  Prng random(4);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> spoilt = bytes;
    spoilt[random.below(spoilt.size())] = static_cast<std::byte>(random.below(256));
    const auto loaded = SessionTable::decode(spoilt, 4);
    if (loaded) {
      EXPECT_EQ(loaded->encode(), spoilt);
    }
  }
}

TEST(SessionRecords, WhatWasWrittenIsRead) {
  const std::byte payload[3]{std::byte{1}, std::byte{2}, std::byte{3}};
  ClientSample with_payload = sample(5, 6);
  with_payload.payload = payload;
  const SessionRecord all[] = {with_payload, kOpen, SessionClose{5, 77}, SessionExpire{5, 4}};
  for (const SessionRecord& record : all) {
    std::vector<std::byte> bytes(bytes_of(record));
    write(record, bytes);
    const auto read = read_session_record(bytes);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->index(), record.index());
    std::vector<std::byte> again(bytes_of(*read));
    write(*read, again);
    EXPECT_EQ(again, bytes);
    EXPECT_FALSE(read_session_record(std::span(bytes).first(kSessionHeaderBytes - 1)));
  }
}

TEST(SessionRecords, SpoiltRecordsAreRefusedOrSound) {
  Prng random(5);
  std::size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> bytes(kSessionHeaderBytes + random.below(3));
    for (std::byte& one : bytes) one = static_cast<std::byte>(random.below(10));
    if (!random.one_in(3)) {
      bytes[1] = bytes[3] = {};
      bytes[2] = std::byte{kSessionHeaderBytes};
    }
    const auto read = read_session_record(bytes);
    refused += read ? 0 : 1;
    if (!read) continue;
    EXPECT_EQ(bytes_of(*read), bytes.size());
    std::vector<std::byte> again(bytes_of(*read));
    write(*read, again);
    EXPECT_EQ(again, bytes);
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, 5000U);
}

}  // namespace
}  // namespace tutti::dds
