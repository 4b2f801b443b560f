/// When a person is told that something takes long.
#include "node/slowness.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using Say = Slowness::Say;
constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(Slowness, IsToldAtTheLimitAndThenLessAndLessOften) {
  Slowness slowness;
  std::vector<std::uint64_t> told;
  for (std::uint64_t s = 1; s <= 60; ++s) {
    if (slowness.look(s * kSecond, s * kSecond, 2 * kSecond) == Say::slow) told.push_back(s);
  }
  EXPECT_EQ(told, (std::vector<std::uint64_t>{2, 4, 8, 16, 32}));
  EXPECT_EQ(slowness.look(61 * kSecond, 0, 2 * kSecond), Say::over);
  EXPECT_EQ(slowness.look(62 * kSecond, 0, 2 * kSecond), Say::nothing);
}

TEST(Slowness, ThatNobodyWasToldOfIsNotOver) {
  Slowness slowness;
  EXPECT_EQ(slowness.look(kSecond, kSecond, 2 * kSecond), Say::nothing);
  EXPECT_EQ(slowness.look(2 * kSecond, 0, 2 * kSecond), Say::nothing);
}

TEST(Slowness, ThatComesAndGoesIsToldSeldom) {
  Slowness slowness;
  int told = 0;
  for (std::uint64_t s = 1; s <= 60; ++s) {
    told += slowness.look(s * kSecond, 2 * kSecond, kSecond) == Say::slow ? 1 : 0;
    static_cast<void>(slowness.look(s * kSecond + kSecond / 2, 0, kSecond));
  }
  EXPECT_EQ(told, 6);
}

TEST(Slowness, WithoutALimitIsNeverTold) {
  Slowness slowness;
  EXPECT_EQ(slowness.look(kSecond, 1000 * kSecond, 0), Say::nothing);
}

TEST(CallTime, IsThatOfOneCall) {
  CallMark mark;
  CallTime time;
  EXPECT_EQ(time.look(10, mark), 0U);
  mark.begin();
  EXPECT_EQ(time.look(20, mark), 0U) << "seen for the first time";
  EXPECT_EQ(time.look(50, mark), 30U);
  mark.end();
  mark.begin();
  EXPECT_EQ(time.look(60, mark), 0U) << "another call";
  EXPECT_EQ(time.look(65, mark), 5U);
  mark.end();
  EXPECT_EQ(time.look(70, mark), 0U);
}

}  // namespace
}  // namespace tutti
