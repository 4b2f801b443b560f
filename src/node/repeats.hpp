/// \file repeats.hpp
/// When to tell a person that something failed that is tried again and again: the first time at
/// once, then every kPeriodNs at most, with the number of times. Successes between do not count:
/// where memory is short, two failures may take turns with them.
/// Threads: one at a time. No clock: times are given.
#pragma once
#include <cstdint>
#include <utility>

namespace tutti {

class Repeats {
 public:
  static constexpr std::uint64_t kPeriodNs = 10'000'000'000;

  /// It failed once more. How often since the last time that it was told, this one included; 0 if
  /// it is not to be told now.
  [[nodiscard]] std::uint64_t count(std::uint64_t now_ns) {
    ++untold_;
    if (told_ && now_ns - told_ns_ < kPeriodNs) return 0;
    told_ = true;
    told_ns_ = now_ns;
    return std::exchange(untold_, 0);
  }

 private:
  bool told_ = false;
  std::uint64_t told_ns_ = 0;
  std::uint64_t untold_ = 0;
};

}  // namespace tutti
