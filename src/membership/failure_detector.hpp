/// \file failure_detector.hpp
/// Suspects members whose heartbeat counter has not moved for too long.
///
/// It never decides safety, only when to start a change of view. Invariant: a pause of our own is
/// not held against others: only watched time counts (V6).
#pragma once
#include <cstdint>

#include "fabric/slot.hpp"
#include "membership/watched_time.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

class FailureDetector {
 public:
  /// Suspects after `timeout_ns` without a beat, seen in looks at most an eighth of that apart.
  FailureDetector(std::uint32_t slots, std::uint64_t timeout_ns)
      : timeout_ns_(timeout_ns), watched_(timeout_ns / 8), seen_(slots) {}

  /// To be called at every look, before heard() and silent().
  void look(std::uint64_t now_ns) { watched_.look(now_ns); }

  /// The counter of the member in that slot, as it is in our table.
  void heard(Slot slot, std::uint64_t heartbeat) {
    Seen& seen = seen_[slot];
    if (seen.at_ns != kNotLookedYet && seen.heartbeat == heartbeat) return;
    seen = {heartbeat, watched_.ns()};
  }

  /// Watched time, as of the last look.
  [[nodiscard]] std::uint64_t watched_ns() const { return watched_.ns(); }

  /// Forgets the slot's past: it is watched from the next look on. The last look may be an eighth
  /// of the time-out ago, in which this node did not watch this slot.
  void watch(Slot slot) { seen_[slot] = {}; }

  [[nodiscard]] bool silent(Slot slot) const {
    const std::uint64_t at_ns = seen_[slot].at_ns;
    return at_ns != kNotLookedYet && watched_.ns() - at_ns > timeout_ns_;
  }

 private:
  static constexpr std::uint64_t kNotLookedYet = ~std::uint64_t{0};
  struct Seen {
    std::uint64_t heartbeat = 0;
    std::uint64_t at_ns = kNotLookedYet;  // in watched time
  };
  std::uint64_t timeout_ns_;
  WatchedTime watched_;
  IndexedBy<Slot, Seen> seen_;
};

}  // namespace tutti
