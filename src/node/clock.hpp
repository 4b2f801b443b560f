/// \file clock.hpp
/// Monotonic time for the threads and time-outs of a node; protocol objects read it only for
/// durations in statistics.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tutti {

[[nodiscard]] inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Of the system clock, since the Unix epoch: for ticks.
[[nodiscard]] inline std::uint64_t time_of_day_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

/// A point in time until which a call may wait.
class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds timeout)
      : at_ns_(now_ns() + static_cast<std::uint64_t>(std::clamp<std::int64_t>(
                              timeout.count(), 0, std::chrono::nanoseconds(kLongest).count()))) {}

  [[nodiscard]] bool passed(std::uint64_t now) const { return now >= at_ns_; }
  [[nodiscard]] std::chrono::nanoseconds left(std::uint64_t now) const {
    return std::chrono::nanoseconds(now >= at_ns_ ? 0 : static_cast<std::int64_t>(at_ns_ - now));
  }

 private:
  static constexpr std::chrono::hours kLongest{24 * 365};
  std::uint64_t at_ns_;
};

}  // namespace tutti
