/// \file watched_time.hpp
/// How long this node has been looking at the others, by its looks from time to time.
///
/// Invariant: a pause of our own is not held against others: time in which we did not look does
/// not count (V6). A longer gap between two looks, in which our process was stopped or our thread
/// was kept busy, counts as one look of `longest_look_ns`.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tutti {

class WatchedTime {
 public:
  explicit WatchedTime(std::uint64_t longest_look_ns) : longest_look_ns_(longest_look_ns) {}

  void look(std::uint64_t now_ns) {
    watched_ns_ += std::min(now_ns - last_look_ns_, longest_look_ns_);
    last_look_ns_ = now_ns;
  }

  /// As of the last look.
  [[nodiscard]] std::uint64_t ns() const { return watched_ns_; }

 private:
  std::uint64_t longest_look_ns_;
  std::uint64_t last_look_ns_ = 0;
  std::uint64_t watched_ns_ = 0;
};

}  // namespace tutti
