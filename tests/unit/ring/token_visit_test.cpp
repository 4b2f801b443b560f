/// What a member does with the token: numbers, aru, fcc, windows, safe delivery.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ring/forged_ring.hpp"

namespace tutti::testing {
namespace {

using ::testing::HasSubstr;

// Member 1 of three, with the token that the others' words make.
class Visit : public ::testing::Test {
 protected:
  Visit() = default;
  explicit Visit(const ForgedOptions& options) : ring(options) {}

  void commit(std::uint32_t messages) {
    for (std::uint32_t i = 0; i < messages; ++i) ASSERT_TRUE(ring[1].commit());
  }
  Token visit(const Token& token) {
    ring.post(0, token);
    ring[1].step();
    return ring.token(1);
  }
  // Member 2 has sent what it was given.
  void sent_by_2(std::uint32_t messages, std::uint64_t first) {
    RingWriter writer(ring.table.ring(2));
    for (std::uint32_t i = 0; i < messages; ++i) writer.put(8, first + i);
    ring.table.sent(2, {.records = messages, .rounds = first + messages});
  }

  ForgedRing ring;
};

TEST_F(Visit, GivesTheNextNumbersToItsMessages) {
  commit(3);
  sent_by_2(5, 0);
  const Token token = visit({.visit = 1, .seq = 5, .aru = 5, .fcc = 5});
  EXPECT_EQ(token, (Token{.visit = 2, .seq = 8, .aru = 8, .fcc = 8}));
  EXPECT_EQ(ring.sent(1).records, 3U);
  EXPECT_EQ(ring.sent(1).rounds, 8U);
  const RecordHeader first = unpack_header(NativeMemory::load(ring.table.ring(1).data()));
  EXPECT_TRUE(first.stamped());
  EXPECT_EQ(first.round, 5U);
  EXPECT_TRUE(ring[1].out.control);
  EXPECT_EQ(ring[1].out.data.count, 1U);
}

TEST_F(Visit, PassesTheTokenOnWithoutMessagesToo) {
  sent_by_2(5, 0);
  const Token token = visit({.visit = 1, .seq = 5, .aru = 5, .fcc = 5});
  EXPECT_EQ(token, (Token{.visit = 2, .seq = 5, .aru = 5, .fcc = 5}));
  EXPECT_FALSE(ring[1].step());
}

TEST_F(Visit, LowersAruToWhatIsHere) {
  commit(1);
  sent_by_2(2, 0);
  const Token token = visit({.visit = 1, .seq = 5, .aru = 5, .fcc = 5});
  EXPECT_EQ(token.aru, 2U);
  EXPECT_EQ(token.aru_id, Rank{1});
  EXPECT_EQ(token.seq, 6U);
}

TEST_F(Visit, LeavesAnAruThatAnotherHasLowered) {
  sent_by_2(4, 0);
  const Token token = visit({.visit = 1, .seq = 5, .aru = 3, .aru_id = Rank{2}, .fcc = 5});
  EXPECT_EQ(token.aru, 3U);
  EXPECT_EQ(token.aru_id, Rank{2});
}

TEST_F(Visit, DoesNotAddItsMessagesToAnAruThatIsBehind) {
  commit(2);
  sent_by_2(5, 0);
  const Token token = visit({.visit = 1, .seq = 5, .aru = 3, .aru_id = Rank{2}, .fcc = 5});
  EXPECT_EQ(token.aru, 3U);
  EXPECT_EQ(token.seq, 7U);
}

TEST_F(Visit, RaisesAnAruThatItHasLowered) {
  sent_by_2(2, 0);
  EXPECT_EQ(visit({.visit = 1, .seq = 5, .aru = 5, .fcc = 5}).aru, 2U);
  RingWriter writer(ring.table.ring(2));
  for (std::uint64_t i = 0; i < 5; ++i) writer.put(8, i);
  ring.table.sent(2, {.records = 5, .rounds = 5});
  const Token token = visit({.visit = 4, .seq = 5, .aru = 2, .aru_id = Rank{1}, .fcc = 0});
  EXPECT_EQ(token.aru, 5U);
  EXPECT_EQ(token.aru_id, kNoAruId);
}

TEST_F(Visit, CountsWhatWasSentInTheLastRotation) {
  commit(3);
  EXPECT_EQ(visit({.visit = 1}).fcc, 3U);
  commit(2);
  EXPECT_EQ(visit({.visit = 4, .seq = 3, .aru = 3, .fcc = 3}).fcc, 2U) << "less our last three";
}

TEST_F(Visit, SendsNoMoreThanThePersonalWindow) {
  commit(10);
  EXPECT_EQ(visit({.visit = 1}).seq, 8U);
  EXPECT_EQ(visit({.visit = 4, .seq = 8, .aru = 8, .fcc = 8}).seq, 10U);
}

TEST_F(Visit, LeavesRoomInTheRotationForNoMoreThanTheGlobalWindow) {
  commit(8);
  sent_by_2(13, 0);
  EXPECT_EQ(visit({.visit = 1, .seq = 13, .aru = 13, .fcc = 13}).seq, 16U);
}

TEST_F(Visit, NumbersNothingFurtherThanTheGapBeyondWhatAllHave) {
  commit(8);
  const Token token = visit({.visit = 1, .seq = 30, .aru = 0, .aru_id = Rank{2}, .fcc = 0});
  EXPECT_EQ(token.seq, 32U) << "nothing is safe yet, the gap is 32";
}

TEST_F(Visit, TakesForSafeWhatAruWasTwice) {
  sent_by_2(5, 0);
  visit({.visit = 1, .seq = 5, .aru = 5, .fcc = 5});
  EXPECT_EQ(ring[1].bounds(2).stable, 0U) << "aru was that high once";
  visit({.visit = 4, .seq = 9, .aru = 5, .aru_id = Rank{0}, .fcc = 9});
  EXPECT_EQ(ring[1].bounds(2).stable, 5U);
  EXPECT_EQ(ring[1].bounds(0).stable, 5U) << "they are numbers, whoever has sent them";
}

TEST_F(Visit, TakesNoTokenForAnother) {
  EXPECT_EQ(visit({.visit = 2}), Token{});
  EXPECT_FALSE(ring[1].step());
}

TEST_F(Visit, TakesNoTokenTwice) {
  commit(1);
  EXPECT_EQ(visit({.visit = 1}).seq, 1U);
  commit(1);
  EXPECT_EQ(visit({.visit = 1}).seq, 1U);
}

TEST_F(Visit, TK1TakesNoTornToken) {
  commit(1);
  ring.post(0, {.visit = 1, .seq = 0});
  ring.set(0, ring.words().seq(), 4);
  ring[1].step();
  EXPECT_EQ(ring.token(1), Token{});
  ring.set(0, ring.words().seq(), 0);
  ring[1].step();
  EXPECT_EQ(ring.token(1).seq, 1U);
}

TEST_F(Visit, SaysWhatItHasWithTheToken) {  // TK7
  sent_by_2(5, 0);
  visit({.visit = 1, .seq = 7, .aru = 7, .fcc = 7});
  EXPECT_EQ(ring.word(1, ring.words().here()), 5U);
}

class Agreed : public Visit {
 protected:
  Agreed() : Visit(ForgedRing::token_ring(Level::agreed)) {}
};

// With Level::agreed what is here may be delivered; what is safe is told beside it (R5).
TEST_F(Agreed, TellsDeliveryWhatAllHave) {
  for (std::uint32_t m = 0; m < 3; ++m) ring.table.met_all(m);
  sent_by_2(5, 0);
  visit({.visit = 1, .seq = 5, .aru = 5, .fcc = 5});
  EXPECT_EQ(ring[1].bounds(2).stable, 5U);
  EXPECT_EQ(ring[1].safe(), 0U) << "aru was that high once";
  ring.post(0, {.visit = 4, .seq = 5, .aru = 5, .fcc = 5});
  EXPECT_TRUE(ring[1].step());
  EXPECT_EQ(ring[1].safe(), 5U);
}

struct Impossible {
  const char* what;
  Token token;
};
class ImpossibleToken : public Visit, public ::testing::WithParamInterface<Impossible> {};

TEST_P(ImpossibleToken, NamesWhoPassedIt) {
  commit(4);
  visit({.visit = 1});
  ring.post(0, GetParam().token);
  ring[1].step();
  ASSERT_TRUE(ring[1]->violation()) << GetParam().what;
  EXPECT_EQ(ring[1]->violation()->rank, Rank{0});
  EXPECT_THAT(ring[1]->violation()->what, HasSubstr("token"));
}

INSTANTIATE_TEST_SUITE_P(
    All, ImpossibleToken,
    ::testing::Values(
        Impossible{"numbers that we gave are given again", {.visit = 4, .seq = 3, .fcc = 4}},
        Impossible{"more is numbered than the gap allows", {.visit = 4, .seq = 37, .fcc = 4}},
        Impossible{"a visit that nobody comes to",
                   {.visit = (1ULL << 40) + 3, .seq = 4, .aru = 4, .fcc = 4}},
        Impossible{"aru is beyond seq", {.visit = 4, .seq = 4, .aru = 5, .fcc = 4}},
        Impossible{"what we sent is not counted", {.visit = 4, .seq = 4, .aru = 4, .fcc = 3}},
        Impossible{"more was sent than there is", {.visit = 4, .seq = 4, .aru = 4, .fcc = 5}},
        Impossible{"nobody has lowered aru", {.visit = 4, .seq = 4, .aru_id = Rank{3}, .fcc = 4}}));

class Accelerated : public Visit {
 protected:
  static ForgedOptions with_window(std::uint32_t accelerated) {
    ForgedOptions options = ForgedRing::token_ring();
    options.windows.accelerated = accelerated;
    return options;
  }
  Accelerated() : Visit(with_window(3)) {}
};

TEST_F(Accelerated, LetsTheTokenGoBeforeTheLastMessages) {
  commit(5);
  EXPECT_EQ(visit({.visit = 1}).seq, 5U);
  EXPECT_EQ(ring.sent(1).rounds, 2U);
  EXPECT_EQ(ring.word(1, ring.words().here()), 2U);
  ring[1].step();
  EXPECT_EQ(ring.sent(1).rounds, 5U);
  EXPECT_EQ(ring.word(1, ring.words().here()), 5U);
  EXPECT_EQ(ring.token(1).visit, 2U);
}

TEST_F(Accelerated, TK9SendsThemBeforeItTakesTheTokenAgain) {
  commit(2);
  EXPECT_EQ(visit({.visit = 1}).seq, 2U);
  EXPECT_EQ(ring.sent(1).rounds, 0U);
  EXPECT_EQ(visit({.visit = 4, .seq = 2, .aru = 2, .fcc = 2}).visit, 2U) << "they go first";
  EXPECT_EQ(ring.sent(1).rounds, 2U);
  ring[1].step();
  EXPECT_EQ(ring.word(1, ring.words().parked()), 5U) << "it has taken it at visit 4";
}

}  // namespace
}  // namespace tutti::testing
