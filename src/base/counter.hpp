/// \file counter.hpp
/// A statistic written by one thread and read by any.
///
/// Relaxed throughout: a reader wants a recent value, not an order. Having one writer, an addition
/// is a plain load and store, not a locked instruction.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

#include "tutti/statistics.hpp"

namespace tutti {

class Counter {
 public:
  void add(std::uint64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The batch sizes of one stage, by powers of two.
class BatchCounter {
 public:
  void record(std::uint64_t items) {
    const auto bucket = static_cast<std::size_t>(std::bit_width(items | 1) - 1);
    buckets_[bucket < BatchHistogram::kBuckets ? bucket : BatchHistogram::kBuckets - 1].add(1);
    batches_.add(1);
    items_.add(items);
  }
  [[nodiscard]] BatchHistogram snapshot() const {
    BatchHistogram out;
    for (std::size_t i = 0; i < BatchHistogram::kBuckets; ++i) out.buckets[i] = buckets_[i].get();
    out.batches = batches_.get();
    out.items = items_.get();
    return out;
  }

 private:
  std::array<Counter, BatchHistogram::kBuckets> buckets_;
  Counter batches_;
  Counter items_;
};

}  // namespace tutti
