#include "flow/round_map.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"

namespace tutti {
namespace {

TEST(RoundMap, KnowsNoRecordBeforeAnyIsSent) {
  RoundMap map(4);
  EXPECT_EQ(map.records_before(0, 0), 0U);
  EXPECT_EQ(map.records_before(100, 0), 0U);
}

TEST(RoundMap, CountsRecordsInConsecutiveRounds) {
  RoundMap map(4);
  map.add(0, 0);
  map.add(2, 2);
  EXPECT_EQ(map.records_before(0, 4), 0U);
  EXPECT_EQ(map.records_before(1, 4), 1U);
  EXPECT_EQ(map.records_before(3, 4), 3U);
  EXPECT_EQ(map.records_before(9, 4), 4U) << "rounds after the last record are nulls";
}

TEST(RoundMap, CountsNoRecordsForNulls) {
  RoundMap map(8);
  map.add(0, 10);
  map.add(2, 20);
  EXPECT_EQ(map.records_before(10, 3), 0U);
  EXPECT_EQ(map.records_before(11, 3), 1U);
  EXPECT_EQ(map.records_before(12, 3), 2U);
  EXPECT_EQ(map.records_before(20, 3), 2U);
  EXPECT_EQ(map.records_before(21, 3), 3U);
}

TEST(RoundMap, GrowsOnlyWithGaps) {
  RoundMap map(1);
  for (std::uint64_t i = 0; i < 100; ++i) map.add(i, i + 5);
  EXPECT_EQ(map.records_before(55, 100), 50U);
}

// RM1: all of the window is in flight, each record in a batch of its own with nulls before it.
TEST(RoundMap, HoldsAWindowOfSingleRecordsWithNullsBetween) {
  constexpr std::uint32_t kWindow = 8;
  RoundMap map(kWindow);
  std::uint64_t sent = 0;
  for (int lap = 0; lap < 10; ++lap) {
    for (std::uint32_t i = 0; i < kWindow; ++i, ++sent) map.add(sent, 3 * sent + 1);
    EXPECT_EQ(map.records_before(3 * sent, sent), sent);
  }
}

TEST(RoundMapDeathTest, RefusesMoreThanTheWindow) {
  RoundMap map(2);
  for (std::uint64_t i = 0; i < 3; ++i) map.add(i, 2 * i);
  EXPECT_DEATH(map.add(3, 6), "broken invariant");
}

// A sender with a window and random batches and nulls, against the list of all its records' rounds.
TEST(RoundMap, AgreesWithAListOfAllRounds) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    const auto window = static_cast<std::uint32_t>(1ULL << random.below(6));
    RoundMap map(window);
    std::vector<std::uint64_t> rounds_of;  // by record
    std::uint64_t next_round = 0;
    std::uint64_t delivered = 0;
    std::uint64_t released = 0;
    for (int i = 0; i < 500; ++i) {
      if (random.one_in(2)) next_round += random.below(4);
      const std::uint64_t room = window - (rounds_of.size() - released);
      if (const std::uint64_t batch = random.below(room + 1); batch != 0) {
        map.add(rounds_of.size(), next_round);
        for (std::uint64_t r = 0; r < batch; ++r) rounds_of.push_back(next_round++);
      }
      if (random.one_in(3)) continue;
      delivered += random.below(next_round - delivered + 1);
      const auto expected = std::ranges::lower_bound(rounds_of, delivered) - rounds_of.begin();
      released = map.records_before(delivered, rounds_of.size());
      ASSERT_EQ(released, static_cast<std::uint64_t>(expected));
    }
  }
}

}  // namespace
}  // namespace tutti
