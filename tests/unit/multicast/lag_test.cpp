/// How far another member is behind, from the points of one's own course.
#include "multicast/lag.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(LagHistory, OfWhoIsAsFarIsNothing) {
  LagHistory history;
  EXPECT_EQ(history.of(0), Lag{});
  history.note(100, 7, 70, 700);
  EXPECT_EQ(history.of(7), Lag{});
  EXPECT_EQ(history.of(9), Lag{}) << "ahead";
}

TEST(LagHistory, CountsFromThePositionWhereTheOtherStands) {
  LagHistory history;
  history.note(100, 0, 0, 0);
  history.note(200, 10, 100, 1000);
  history.note(300, 20, 200, 4000);
  EXPECT_EQ(history.of(10), (Lag{100, 3000, 100}));
  EXPECT_EQ(history.of(15), (Lag{50, 1500, 50})) << "half-way between two points";
  EXPECT_EQ(history.of(0), (Lag{200, 4000, 200}));
}

TEST(LagHistory, TimeInWhichNothingCameIsNoLag) {
  LagHistory history;
  history.note(100, 5, 5, 5);
  history.note(900, 5, 5, 5);
  history.note(1000, 6, 6, 6);
  EXPECT_EQ(history.of(5), (Lag{1, 1, 100}));
  history.note(5000, 6, 6, 6);
  EXPECT_EQ(history.of(5), (Lag{1, 1, 4100})) << "it has been missing that one since";
}

TEST(LagHistory, KeepsALongPastLessFinely) {
  LagHistory history;
  for (std::uint64_t i = 0; i <= 10'000; ++i) history.note(10 * i, i, i, 0);
  const Lag lag = history.of(1);
  EXPECT_GT(lag.messages, 5'000U);
  EXPECT_LE(lag.messages, 9'999U);
  const Lag late = history.of(9'000);
  EXPECT_NEAR(static_cast<double>(late.messages), 1'000, 1);
  EXPECT_NEAR(static_cast<double>(late.ns), 10'000, 10);
}

TEST(LagHistory, ForgetsWhatNobodyIsBehind) {
  LagHistory history;
  history.note(100, 10, 10, 10);
  history.note(200, 20, 20, 20);
  history.note(300, 30, 30, 30);
  history.forget_before(25);
  EXPECT_EQ(history.of(25), (Lag{5, 5, 50}));
  EXPECT_EQ(history.of(20), (Lag{10, 10, 100}));
  EXPECT_EQ(history.of(5), (Lag{10, 10, 100})) << "as far as is known";
}

TEST(LagHistory, BeginsAnewWithAView) {
  LagHistory history;
  history.note(100, 50, 50, 50);
  history.clear();
  history.note(200, 0, 50, 50);
  history.note(300, 2, 52, 52);
  EXPECT_EQ(history.of(0), (Lag{2, 2, 100}));
}

}  // namespace
}  // namespace tutti
