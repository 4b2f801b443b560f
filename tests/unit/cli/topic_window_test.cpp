/// \file topic_window_test.cpp
/// Rates, sizes and ages of the newest samples.
#include <gtest/gtest.h>

#include "cli/topic/window.hpp"

namespace tutti::cli {
namespace {

TEST(SampleWindow, KnowsNoRateOfOneSample) {
  SampleWindow window(10);
  EXPECT_FALSE(window.rate());
  window.add({.at_ns = 1'000, .bytes = 10});
  EXPECT_FALSE(window.rate());
  EXPECT_FALSE(window.bytes_rate());
  EXPECT_EQ(window.gaps_ns().count, 0U);
  EXPECT_EQ(window.bytes().mean, 10);
}

TEST(SampleWindow, CountsGapsAndBytes) {
  SampleWindow window(10);
  window.add({.at_ns = 0, .bytes = 1'000, .age_ns = 5});
  window.add({.at_ns = 100'000'000, .bytes = 20, .age_ns = -5});
  window.add({.at_ns = 400'000'000, .bytes = 40, .age_ns = 30});
  EXPECT_DOUBLE_EQ(*window.rate(), 5);
  EXPECT_DOUBLE_EQ(*window.bytes_rate(), 150);
  const Spread gaps = window.gaps_ns();
  EXPECT_EQ(gaps.count, 2U);
  EXPECT_DOUBLE_EQ(gaps.mean, 2e8);
  EXPECT_DOUBLE_EQ(gaps.least, 1e8);
  EXPECT_DOUBLE_EQ(gaps.most, 3e8);
  EXPECT_DOUBLE_EQ(gaps.deviation, 1e8);
  EXPECT_DOUBLE_EQ(window.ages_ns().mean, 10);
  EXPECT_DOUBLE_EQ(window.ages_ns().least, -5);
}

TEST(SampleWindow, KeepsTheNewest) {
  SampleWindow window(2);
  for (int i = 0; i < 5; ++i) window.add({.at_ns = i * i * 1'000'000'000LL});
  EXPECT_EQ(window.count(), 2U);
  EXPECT_DOUBLE_EQ(window.gaps_ns().mean, 7e9);
}

}  // namespace
}  // namespace tutti::cli
