#include "node/eras.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Eras, TellTheViewOfEachRecord) {
  Eras eras;
  eras.entered(1, 0);
  eras.entered(2, 3);
  eras.entered(4, 4);
  EXPECT_EQ(eras.view_of(1), 1U);
  EXPECT_EQ(eras.view_of(3), 1U);
  EXPECT_EQ(eras.view_of(4), 2U);
  EXPECT_EQ(eras.view_of(5), 4U);
  EXPECT_EQ(eras.view_of(1000), 4U);
}

TEST(Eras, KeepNothingOfViewsWithoutRecords) {
  Eras eras;
  for (std::uint64_t view = 1; view <= 10'000; ++view) eras.entered(view, view < 5'000 ? 0 : 7);
  EXPECT_EQ(eras.size(), 2U);
  EXPECT_EQ(eras.view_of(1), 4'999U) << "delivered in the last view of those that began with 0";
  EXPECT_EQ(eras.view_of(7), 4'999U);
  EXPECT_EQ(eras.view_of(8), 10'000U);
}

TEST(Eras, OfManyViewsWithRecordsKeepTheNewest) {
  Eras eras;
  for (std::uint64_t view = 1; view <= 10'000; ++view) eras.entered(view, 2 * (view - 1));
  EXPECT_EQ(eras.size(), kViewsRemembered);
  const std::uint64_t oldest = 10'000 - kViewsRemembered + 1;
  EXPECT_EQ(eras.view_of(2 * oldest), oldest);
  EXPECT_EQ(eras.view_of(2 * oldest - 1), oldest);
  EXPECT_EQ(eras.view_of(2 * oldest - 2), std::nullopt) << "forgotten";
  EXPECT_EQ(eras.view_of(20'000), 10'000U);
}

}  // namespace
}  // namespace tutti
