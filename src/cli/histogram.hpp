/// \file histogram.hpp
/// A log-linear histogram of times: exact below 64, then 64 buckets to a power of two, so that a
/// percentile is off by at most 1/64 of itself at any scale. Fixed size, no allocation to record.
/// Threads: one at a time; merge histograms of several threads afterwards.
/// What makes JSON is defined in histogram_json.hpp, for those who call it.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace tutti::cli {

class Histogram {
 public:
  /// Negative values count as 0.
  void record(std::int64_t value) {
    const auto at = static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
    ++buckets_[bucket_of(at)];
    ++count_;
    max_ = std::max(max_, at);
  }

  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }

  /// The least value that `fraction` (0 .. 1) of all values do not exceed, as the top of its bucket
  /// and at most max(); 0 if there is none.
  [[nodiscard]] std::uint64_t percentile(double fraction) const {
    const auto wanted =
        static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_)));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      below += buckets_[i];
      if (below > 0 && below >= wanted) return std::min(top_of(i), max_);
    }
    return max_;
  }

  /// {"max": n, "buckets": [[bucket, count], ...]}, without the empty ones.
  [[nodiscard]] nlohmann::json to_json() const;

  /// Nothing if `json` is not what to_json makes.
  [[nodiscard]] static std::optional<Histogram> from_json(const nlohmann::json& json);

  /// The figures that people read.
  [[nodiscard]] nlohmann::json summary() const;

 private:
  static constexpr unsigned kSubBits = 6;
  static constexpr std::size_t kSub = std::size_t{1} << kSubBits;
  static constexpr std::size_t kBuckets = (64 - kSubBits + 1) * kSub;

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < kSub) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return kSub * shift + (value >> shift);
  }

  /// The largest value of the bucket.
  static std::uint64_t top_of(std::size_t bucket) {
    if (bucket < kSub) return bucket;
    const std::size_t shift = bucket / kSub - 1;
    const std::uint64_t bottom = (kSub + bucket % kSub) << shift;
    return bottom + ((std::uint64_t{1} << shift) - 1);
  }

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace tutti::cli
