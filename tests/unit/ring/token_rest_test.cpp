/// How an idle ring rests, and starts again (TK8).
#include <gtest/gtest.h>

#include "unit/ring/forged_ring.hpp"

namespace tutti::testing {
namespace {

TEST(RestingToken, IsAtRankZeroInTheBeginning) {
  ForgedRing ring;
  EXPECT_FALSE(ring.step(3));
  for (std::uint32_t m = 0; m < 3; ++m) EXPECT_EQ(ring.token(m), Token{}) << m;
}

TEST(RestingToken, GoesOnWithAMessageOfItsHolder) {
  ForgedRing ring;
  ASSERT_TRUE(ring[0].commit());
  EXPECT_TRUE(ring[0].step());
  EXPECT_EQ(ring.token(0).visit, 4U) << "visit 3 was ours, the next one is member 1's";
  EXPECT_EQ(ring.token(0).seq, 1U);
  EXPECT_EQ(ring.sent(0).records, 1U);
}

TEST(RestingToken, GoesStraightToWhoWantsIt) {
  ForgedRing ring;
  ASSERT_TRUE(ring[2].commit());
  EXPECT_TRUE(ring[2].step());
  EXPECT_EQ(ring.word(2, ring.words().want()), 1U) << "the token that was parked at visit 0";
  EXPECT_TRUE(ring[2].out.control);
  EXPECT_FALSE(ring[2].step()) << "it asks once";
  EXPECT_TRUE(ring[0].step());
  EXPECT_EQ(ring.token(0).visit, 2U) << "member 1 is passed over";
  EXPECT_FALSE(ring[0].step());
  EXPECT_TRUE(ring[2].step());
  EXPECT_EQ(ring.sent(2).records, 1U);
  EXPECT_EQ(ring.token(2).visit, 3U);
}

TEST(RestingToken, IsTheFirstWantersInTheOrderOfRanks) {
  ForgedRing ring;
  ASSERT_TRUE(ring[2].commit());
  ASSERT_TRUE(ring[1].commit());
  ring[2].step();
  ring[1].step();
  ring[0].step();
  EXPECT_EQ(ring.token(0).visit, 1U);
  ring[1].step();
  ring[2].step();
  EXPECT_EQ(ring.sent(2).rounds, 2U) << "its turn came by itself";
}

TEST(RestingToken, RestsAgainOnceAllHaveAll) {
  ForgedRing ring;
  ASSERT_TRUE(ring[1].commit());
  EXPECT_FALSE(ring.step(12));
  std::uint64_t parked = 0;
  for (std::uint32_t m = 0; m < 3; ++m) {
    parked = std::max(parked, ring.word(m, ring.words().parked()));
    EXPECT_EQ(ring[m].bounds(1).stable, 1U) << m << " was not told that it is safe";
  }
  EXPECT_GT(parked, 1U);
  ASSERT_TRUE(ring[0].commit());
  EXPECT_FALSE(ring.step(12));
  for (std::uint32_t m = 0; m < 3; ++m) EXPECT_EQ(ring[m].bounds(0).stable, 2U) << m;
}

TEST(RestingToken, AStaleWishMovesNothing) {
  ForgedRing ring;
  ring.set(2, ring.words().want(), 7);
  EXPECT_FALSE(ring[0].step());
  EXPECT_EQ(ring.token(0), Token{});
}

TEST(RestingToken, DoesNotRestWhileOneLacksAMessage) {
  ForgedRing ring;
  // Members 0 and 2 have number 0, which member 1 has sent, with its token behind.
  const Token token{.visit = 4, .seq = 1, .aru = 1, .fcc = 0};
  ring.post(0, token);
  ring[1].step();
  EXPECT_EQ(ring.word(1, ring.words().parked()), 0U);
  EXPECT_EQ(ring.token(1).aru, 0U) << "it lacks number 0";
  ring.post(0, {.visit = 7, .seq = 1, .aru = 0, .aru_id = Rank{1}, .fcc = 0});
  ring[1].step();
  EXPECT_EQ(ring.word(1, ring.words().parked()), 0U);
}

TEST(RestingToken, ServesAMemberThatIsAlone) {
  ForgedOptions options = ForgedRing::token_ring();
  options.members = 1;
  options.sender_ranks = {0};
  options.windows.accelerated = 1;
  ForgedRing ring(options);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(ring[0].commit());
    EXPECT_FALSE(ring.step(4));
    EXPECT_EQ(ring.sent(0).records, i);
    EXPECT_EQ(ring[0].bounds(0).stable, i);
  }
}

TEST(RestingToken, ServesMembersThatSendNothingThemselves) {
  ForgedOptions options = ForgedRing::token_ring();
  options.sender_ranks = {2};
  ForgedRing ring(options);
  ASSERT_TRUE(ring[2].commit());
  EXPECT_FALSE(ring.step(12));
  for (std::uint32_t m = 0; m < 3; ++m) EXPECT_EQ(ring[m].bounds(0).stable, 1U) << m;
}

TEST(RestingToken, StaysWhereItIsOnceItsHolderHasWedged) {
  ForgedRing ring;
  ASSERT_TRUE(ring[2].commit());
  ring[2].step();
  ring[0]->wedge();
  ring[0].step();
  EXPECT_EQ(ring.token(0), Token{});
}

}  // namespace
}  // namespace tutti::testing
