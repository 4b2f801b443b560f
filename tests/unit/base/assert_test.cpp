#include "base/assert.hpp"

#include <gtest/gtest.h>

#include "tutti/types.hpp"

namespace tutti {
namespace {

TEST(Assert, IsSilentWhenTheInvariantHolds) {
  int evaluated = 0;
  const auto evaluate = [&evaluated] { return ++evaluated == 1; };
  TUTTI_ASSERT(evaluate(), evaluated);
  EXPECT_EQ(evaluated, 1) << "in every build, once";
}

TEST(AssertDeathTest, PrintsExpressionPlaceAndValues) {
  const int rank = 3;
  EXPECT_DEATH(TUTTI_ASSERT(rank < 2, rank, 77),
               "assert_test.cpp:[0-9]+: broken invariant: rank < 2 \\(rank, 77 = 3 77\\)");
  EXPECT_DEATH(TUTTI_ASSERT(rank < 2), "broken invariant: rank < 2\n");
}

TEST(AssertDeathTest, PrintsOfAPositionItsNumber) {
  const Rank rank{3};
  EXPECT_DEATH(TUTTI_ASSERT(rank < Rank{2}, rank, 77), "\\(rank, 77 = 3 77\\)");
}

}  // namespace
}  // namespace tutti
