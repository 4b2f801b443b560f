#include "base/counter.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace tutti {
namespace {

TEST(BatchCounter, SortsSizesByPowersOfTwo) {
  BatchCounter counter;
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 7U, 8U, 1000U}) counter.record(size);
  const BatchHistogram histogram = counter.snapshot();
  EXPECT_EQ(histogram.buckets[0], 1U);
  EXPECT_EQ(histogram.buckets[1], 2U);
  EXPECT_EQ(histogram.buckets[2], 2U);
  EXPECT_EQ(histogram.buckets[3], 1U);
  EXPECT_EQ(histogram.buckets[9], 1U);
  EXPECT_EQ(histogram.batches, 7U);
  EXPECT_EQ(histogram.items, 1025U);
}

TEST(BatchCounter, KeepsTheLargestInTheLastBucket) {
  BatchCounter counter;
  counter.record(~0ULL);
  counter.record(1ULL << BatchHistogram::kBuckets);
  EXPECT_EQ(counter.snapshot().buckets.back(), 2U);
}

TEST(BatchCounter, CountsAnEmptyBatchAsOneOfTheSmallest) {
  BatchCounter counter;
  counter.record(0);
  EXPECT_EQ(counter.snapshot().buckets[0], 1U);
  EXPECT_EQ(counter.snapshot().items, 0U);
}

TEST(BatchHistogram, HasAMeanOfZeroWithoutBatches) {
  EXPECT_EQ(BatchHistogram{}.mean(), 0.0);
  EXPECT_EQ((BatchHistogram{.buckets = {}, .batches = 4, .items = 10}).mean(), 2.5);
}

TEST(Counter, IsReadByAnyThreadWhileItGrows) {
  Counter counter;
  std::thread writer([&] {
    for (int i = 0; i < 10'000; ++i) counter.add(2);
  });
  std::uint64_t last = 0;
  while (last < 20'000) {
    const std::uint64_t now = counter.get();
    ASSERT_GE(now, last);
    last = now;
  }
  writer.join();
}

constexpr auto kNoClock = [] { return std::uint64_t{0}; };

TEST(DurationCounter, AddsUpWhatHasEnded) {
  DurationCounter counter;
  EXPECT_EQ(counter.get(kNoClock), 0);
  counter.begin(100);
  counter.end(130);
  counter.begin(1'000);
  counter.end(1'001);
  EXPECT_EQ(counter.get(kNoClock), 31);
}

TEST(DurationCounter, CountsWhileItLasts) {
  DurationCounter counter;
  counter.begin(100);
  counter.end(130);
  counter.begin(1'000);
  EXPECT_EQ(counter.get([] { return std::uint64_t{1'000}; }), 30);
  EXPECT_EQ(counter.get([] { return std::uint64_t{1'500}; }), 530);
  counter.end(2'000);
  EXPECT_EQ(counter.get(kNoClock), 1'030);
}

TEST(DurationCounter, AnEndWithoutABeginningIsNothing) {
  DurationCounter counter;
  counter.end(5);
  counter.begin(10);
  counter.end(20);
  counter.end(30);
  EXPECT_EQ(counter.get(kNoClock), 10);
}

}  // namespace
}  // namespace tutti
