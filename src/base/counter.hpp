/// \file counter.hpp
/// A statistic written by one thread and read by any.
///
/// Relaxed but for durations: a reader wants a recent value, not an order. Having one writer, an
/// addition is a plain load and store, not a locked instruction.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/assert.hpp"
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

/// For how long something has lasted, all in all, and also while it lasts: below 2^63 ns. Acquire
/// and release, so that a reader's clock is not before the beginning that it has read.
class DurationCounter {
 public:
  /// It does not last yet.
  void begin(std::uint64_t now_ns) {
    TUTTI_ASSERT((load() & kLasts) == 0, load(), now_ns);
    store(kLasts | ((load() - now_ns) & ~kLasts));
  }
  void end(std::uint64_t now_ns) {
    if ((load() & kLasts) != 0) store((load() + now_ns) & ~kLasts);
  }
  /// `clock` is that of the times above, and is asked after they were.
  template <class Clock>
  [[nodiscard]] std::uint64_t get(Clock clock) const {
    const std::uint64_t value = value_.load(std::memory_order_acquire);
    return (value & kLasts) == 0 ? value : (value + clock()) & ~kLasts;
  }

 private:
  static constexpr std::uint64_t kLasts = 1ULL << 63;
  [[nodiscard]] std::uint64_t load() const { return value_.load(std::memory_order_relaxed); }
  void store(std::uint64_t value) { value_.store(value, std::memory_order_release); }

  // What it has lasted; while it lasts, that less the time at which it began, modulo 2^63.
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
