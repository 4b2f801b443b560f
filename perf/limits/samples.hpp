/// \file samples.hpp
/// Latencies of one run: all of them are kept, so that the quantiles are exact.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace limits {

class Samples {
 public:
  /// `most` samples fit; the memory is touched now, not in the measured loop.
  explicit Samples(size_t most) : values_(most) {}

  /// Samples beyond `most` are dropped.
  void add(int64_t value) {
    if (count_ < values_.size()) values_[count_++] = value;
  }

  [[nodiscard]] size_t count() const { return count_; }

  /// Call once, after the last `add`.
  void sort() {
    values_.resize(count_);
    std::sort(values_.begin(), values_.end());
  }

  /// The least value that at least `share` of the samples do not exceed. Call after `sort`.
  [[nodiscard]] int64_t quantile(double share) const {
    if (values_.empty()) return 0;
    const double rank = std::ceil(share * static_cast<double>(values_.size()));
    return values_[std::clamp<size_t>(static_cast<size_t>(rank), 1, values_.size()) - 1];
  }

 private:
  std::vector<int64_t> values_;
  size_t count_ = 0;
};

}  // namespace limits
