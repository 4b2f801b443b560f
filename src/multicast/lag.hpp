/// \file lag.hpp
/// How far a member is behind this one, in messages, bytes and time, given only how far both have
/// come: from points that this member notes of its own course.
///
/// A position is anything that grows and means the same at both (GroupOrder).
/// Between two points, messages and time are taken to be spread evenly; so figures are exact where
/// a member stands still at a point, and good to a point's distance elsewhere. Points are thinned
/// out when there are too many, the older the more: a long lag is told less finely.
/// Threads: one at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"

namespace tutti {

struct Lag {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< payload
  std::uint64_t ns = 0;     ///< since this member passed the first of these messages
  friend bool operator==(const Lag&, const Lag&) = default;
};

class LagHistory {
 public:
  /// At `now_ns` this member is at `position`, and has been delivered so many messages and bytes.
  void note(std::uint64_t now_ns, std::uint64_t position, std::uint64_t messages,
            std::uint64_t bytes) {
    if (count_ != 0) {
      Point& last = points_[count_ - 1];
      TUTTI_ASSERT(position >= last.position && now_ns >= last.left_ns, position, last.position,
                   now_ns, last.left_ns);
      TUTTI_ASSERT(messages >= last.messages && bytes >= last.bytes, messages, last.messages, bytes,
                   last.bytes);
      if (last.position == position) {
        last.left_ns = now_ns;
        return;
      }
    }
    if (count_ == points_.size()) thin_out();
    TUTTI_ASSERT(count_ < points_.size(), count_);
    points_[count_++] = {position, messages, bytes, now_ns, now_ns};
  }

  /// Nobody is behind that position any more.
  void forget_before(std::uint64_t position) {
    std::size_t gone = 0;
    while (gone + 1 < count_ && points_[gone + 1].position <= position) ++gone;
    TUTTI_ASSERT(count_ == 0 || gone < count_, gone, count_, position);
    for (std::size_t i = gone; i < count_; ++i) points_[i - gone] = points_[i];
    count_ -= gone;
  }

  /// Positions count from the beginning again: another view.
  void clear() { count_ = 0; }

  /// Of a member that is at `position`, at the time of the last note().
  [[nodiscard]] Lag of(std::uint64_t position) const {
    if (count_ == 0 || position >= points_[count_ - 1].position) return {};
    const Point& here = points_[count_ - 1];
    std::size_t next = 0;
    while (points_[next].position <= position) ++next;
    const Point& after = points_[next];
    if (next == 0) {  // no point is as old as that
      return {here.messages - after.messages, here.bytes - after.bytes, here.left_ns - after.at_ns};
    }
    const Point& before = points_[next - 1];
    const double part = static_cast<double>(position - before.position) /
                        static_cast<double>(after.position - before.position);
    const auto between = [part](std::uint64_t from, std::uint64_t to) {
      return from + static_cast<std::uint64_t>(part * static_cast<double>(to - from));
    };
    return {here.messages - between(before.messages, after.messages),
            here.bytes - between(before.bytes, after.bytes),
            here.left_ns - between(before.left_ns, after.at_ns)};
  }

 private:
  struct Point {
    std::uint64_t position = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t at_ns = 0;    // when it was first noted
    std::uint64_t left_ns = 0;  // and last
  };

  // Every second one goes, but not the oldest.
  void thin_out() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; i += 2) points_[kept++] = points_[i];
    count_ = kept;
  }

  std::array<Point, 64> points_{};
  std::size_t count_ = 0;
};

}  // namespace tutti
