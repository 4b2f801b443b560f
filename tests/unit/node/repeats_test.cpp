#include "node/repeats.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::uint64_t kPeriod = Repeats::kPeriodNs;

TEST(Repeats, TellTheFirstAndThenOneAPeriodWithTheNumber) {
  Repeats failures;
  EXPECT_EQ(failures.count(5), 1U);
  for (std::uint64_t i = 0; i < 30; ++i) EXPECT_EQ(failures.count(6 + i), 0U);
  EXPECT_EQ(failures.count(5 + kPeriod), 31U);
  EXPECT_EQ(failures.count(4 + 2 * kPeriod), 0U);
  EXPECT_EQ(failures.count(5 + 2 * kPeriod), 2U);
}

}  // namespace
}  // namespace tutti
