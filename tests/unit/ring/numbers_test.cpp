/// Records in the order of their numbers: the local aru, and delivery.
#include <gtest/gtest.h>

#include "ring/token/local_aru.hpp"
#include "unit/multicast/forged_delivery.hpp"
#include "unit/ring/forged_ring.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kFar = std::uint64_t{1} << 33;

class Numbers : public ::testing::Test {
 protected:
  Numbers() {
    for (std::uint32_t s = 0; s < 3; ++s) {
      rings.emplace_back(table.ring(s));
      state.met[SenderIndex{s}] = true;
    }
  }
  void put(std::uint32_t sender, std::initializer_list<std::uint64_t> numbers) {
    for (const std::uint64_t number : numbers) {
      rings[sender].put(8, number);
      state.sent[SenderIndex{sender}] = {.records = rings[sender].records(), .rounds = number + 1};
    }
  }
  std::uint64_t local_aru() {
    aru.advance();
    return aru.number();
  }

  ForgedTable table{ForgedRing::token_ring()};
  std::vector<RingWriter> rings;
  Bounds bounds{3};
  ViewState<NativeMemory> state{table.shape(0), {}, bounds};
  LocalAru<NativeMemory> aru{state};
};

TEST_F(Numbers, AreHereUpToTheFirstThatIsNot) {
  EXPECT_EQ(local_aru(), 0U);
  put(1, {0, 1, 5, 6});
  EXPECT_EQ(local_aru(), 2U);
  put(2, {2, 3});
  EXPECT_EQ(local_aru(), 4U);
  put(0, {4});
  EXPECT_EQ(local_aru(), 7U);
  EXPECT_FALSE(state.violation);
}

TEST_F(Numbers, GoOnBehindTheRingsEnd) {
  for (std::uint64_t number = 0; number < 200; ++number) {
    put(number / 5 % 2 == 0 ? 1 : 2, {number});
    ASSERT_EQ(local_aru(), number + 1);
  }
}

TEST_F(Numbers, OfASenderThatWasSilentForLong) {
  put(1, {0});
  ASSERT_EQ(local_aru(), 1U);
  RingWalk<NativeMemory> walk(state.memory, state.extent_of(SenderIndex{1}),
                              {.records = 1, .round = 1, .offset = 2}, 0);
  rings[1].put(8, kFar + 3);
  ASSERT_TRUE(walk.look(kFar));
  EXPECT_EQ(walk.cursor().round, kFar + 3);
}

TEST_F(Numbers, OfTwoSendersAreNotTheSame) {
  put(1, {0, 1});
  put(2, {1});
  local_aru();
  ASSERT_TRUE(state.violation);
  EXPECT_EQ(state.violation->rank, Rank{2});
}

TEST_F(Numbers, StopAtARecordThatCannotBe) {
  rings[1].raw({0xFFFF, 0});
  state.sent[SenderIndex{1}] = {.records = 1, .rounds = 1};
  local_aru();
  ASSERT_TRUE(state.violation);
  EXPECT_EQ(state.violation->rank, Rank{1});
}

class NumberDelivery : public ForgedDelivery, public ::testing::Test {
 protected:
  NumberDelivery() : ForgedDelivery(ForgedRing::token_ring()) {}
  void put(std::uint32_t sender, std::initializer_list<std::uint64_t> numbers) {
    for (const std::uint64_t number : numbers) rings[sender].put(8, number);
  }
  void stable(std::uint64_t number) {
    for (std::uint32_t s = 0; s < 3; ++s) known(s, number);
  }
};

TEST_F(NumberDelivery, GoesByNumbers) {
  put(2, {0, 1, 4});
  put(0, {2, 5});
  put(1, {3});
  stable(6);
  EXPECT_TRUE(run());
  EXPECT_EQ(senders(), "220120");
  EXPECT_EQ(delivery->position(), 6U);
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(messages[i].seq.value, i);
}

TEST_F(NumberDelivery, StopsAtTheLeastBound) {
  put(2, {0, 1, 2});
  put(0, {3});
  stable(2);
  known(0, 4);
  known(1, 4);
  EXPECT_TRUE(run());
  EXPECT_EQ(senders(), "22");
  EXPECT_FALSE(run());
}

// R5.
TEST_F(NumberDelivery, WaitsBeforeASafeMessageUntilAllHaveIt) {
  rings[2].put(8, 0);
  rings[0].put(8, 1, kSafeBits);
  rings[1].put(8, 2);
  stable(3);
  EXPECT_TRUE(run());
  EXPECT_EQ(senders(), "2") << "it is here, and so is what comes after it";
  bounds.set_safe(1);
  EXPECT_FALSE(run()) << "all have what comes before it";
  bounds.set_safe(2);
  EXPECT_TRUE(run());
  EXPECT_EQ(senders(), "201");
}

TEST_F(NumberDelivery, WaitsForNothingMoreAtTheEndOfTheView) {
  rings[2].put(8, 0, kSafeBits);
  rings[2].put(8, 1);
  stable(1);
  EXPECT_FALSE(run());
  bounds.close();
  for (std::uint32_t s = 0; s < 3; ++s) {
    bounds.set(SenderIndex{s},
               {.records = rings[s].records(), .known = kNoRound, .stable = kNoRound});
  }
  bounds.make_final();
  bounds.open();
  EXPECT_TRUE(run());
  EXPECT_EQ(senders(), "22");
  EXPECT_EQ(delivery->position(), kDeliveredAll);
}

TEST_F(NumberDelivery, ASafeMessageThatWasAbandonedIsNoMessage) {
  rings[2].put(8, 0, kAbandonedBit);
  rings[1].put(8, 1);
  stable(2);
  EXPECT_TRUE(run());
  EXPECT_EQ(senders(), "1");
}

}  // namespace
}  // namespace tutti::testing
