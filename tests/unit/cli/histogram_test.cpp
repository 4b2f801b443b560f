#include "cli/histogram_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace tutti::cli {
namespace {

TEST(Histogram, IsZeroWithoutValues) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.percentile(0.5), 0U);
  EXPECT_EQ(histogram.max(), 0U);
}

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  for (int value = 1; value <= 60; ++value) histogram.record(value);
  EXPECT_EQ(histogram.percentile(0.5), 30U);
  EXPECT_EQ(histogram.percentile(0.1), 6U);
  EXPECT_EQ(histogram.percentile(1), 60U);
}

TEST(Histogram, CountsNegativeValuesAsZero) {
  Histogram histogram;
  histogram.record(-5);
  EXPECT_EQ(histogram.count(), 1U);
  EXPECT_EQ(histogram.percentile(1), 0U);
}

TEST(Histogram, HoldsTheLargestValue) {
  Histogram histogram;
  histogram.record(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(histogram.percentile(0.5),
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

TEST(Histogram, PercentilesAreOffByAtMostOneIn64) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> values;
  Histogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t value = random() >> (1 + random() % 63);
    values.push_back(value);
    histogram.record(static_cast<std::int64_t>(value));
  }
  std::ranges::sort(values);
  for (const double fraction : {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * 20'000)) - 1;
    const std::uint64_t found = histogram.percentile(fraction);
    EXPECT_GE(found, values[rank]);
    EXPECT_LE(found - values[rank], values[rank] / 64);
  }
}

TEST(Histogram, MergedIsAsIfRecordedTogether) {
  Histogram left;
  Histogram right;
  Histogram both;
  for (int value = 1; value < 10'000; value *= 3) {
    left.record(value);
    right.record(7 * value);
    both.record(value);
    both.record(7 * value);
  }
  left.merge(right);
  EXPECT_EQ(left.to_json(), both.to_json());
}

TEST(Histogram, SurvivesJson) {
  Histogram histogram;
  for (int value = 1; value < 1'000'000; value *= 2) histogram.record(value);
  const auto back = Histogram::from_json(nlohmann::json::parse(histogram.to_json().dump()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->to_json(), histogram.to_json());
  EXPECT_EQ(back->summary(), histogram.summary());
}

TEST(Histogram, RefusesForeignJson) {
  for (const char* text :
       {"1", "{}", R"({"max": 1})", R"({"max": -1, "buckets": []})",
        R"({"max": 1, "buckets": [[1]]})", R"({"max": 1, "buckets": [[999999, 1]]})",
        R"({"max": 1, "buckets": [[1, -1]]})", R"({"max": 1, "buckets": {"a": 1}})"}) {
    EXPECT_FALSE(Histogram::from_json(nlohmann::json::parse(text))) << text;
  }
}

}  // namespace
}  // namespace tutti::cli
