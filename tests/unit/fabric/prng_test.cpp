#include "base/prng.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace tutti {
namespace {

TEST(Prng, Splitmix64GivesThePublishedNumbers) {
  std::uint64_t state = 1234567;
  EXPECT_EQ(splitmix64(state), 6457827717110365317U);
  EXPECT_EQ(splitmix64(state), 3203168211198807973U);
  EXPECT_EQ(splitmix64(state), 9817491932198370423U);
}

TEST(Prng, GivesTheSameNumbersForTheSameSeed) {
  Prng one(42);
  Prng same(42);
  Prng other(43);
  int different = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = one.next();
    EXPECT_EQ(number, same.next());
    different += number != other.next() ? 1 : 0;
  }
  EXPECT_GT(different, 95);
}

TEST(Prng, BelowReachesAllNumbersAboutEquallyOften) {
  Prng random(7);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts.at(random.below(counts.size()));
  for (const int count : counts) {
    EXPECT_GT(count, 9'000);
    EXPECT_LT(count, 11'000);
  }
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_LT(random.below(~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace tutti
