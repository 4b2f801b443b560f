/// \file ticker.hpp
/// A group's clock: the member that puts ticks into the sequence (GroupOptions::tick_every).
///
/// Invariants:
///  TI1  The clock of a view is its first sender by rank that has not finished. Members that go on
///       keep the order of their ranks, and those that join come behind them. It puts a tick only
///       once it has delivered all earlier views, and all that the senders before it sent in this
///       one. So the ticks of a clock are all behind those of the one before: what that one leaves
///       undelivered is lost with it, or, if it has only finished, sent again before it says in
///       the next view that it has finished (R4).
///  TI2  The time of a tick is more than that of every tick that this member walked over. Where the
///       system clock is behind that, time goes on from there, as fast as it passes.
///  TI3  A clock has delivered its last tick before it puts the next. At most a quarter of its
///       window, and no more than 64 records, are ticks that some member has not delivered. What is
///       missed for that, or for want of space, is left out.
///  TI4  A member that has finished puts none: ticks keep no group from becoming complete.
/// Threads: the predicate thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "multicast/subgroup.hpp"
#include "smc/record.hpp"
#include "smc/send_ring.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// A tick that was put.
struct PutTick {
  Ticket record;  ///< the record that it is, as a message's ticket names one
  std::uint64_t time_ns = 0;
};

template <class Memory>
class Ticker {
 public:
  /// `group` outlives this, and has ticks.
  explicit Ticker(Subgroup<Memory>& group)
      : group_(group),
        every_ns_(group.shape().tick_every_ns),
        last_(std::clamp<std::size_t>(group.shape().window_records / 4, 2, 64)) {}

  /// Puts the tick that is due, if this member is the clock. `now_ns`: of the pass; `time_of_day`:
  /// the system clock, in ns.
  [[nodiscard]] std::optional<PutTick> pass(std::uint64_t now_ns,
                                            const std::function<std::uint64_t()>& time_of_day) {
    SendRing* const ring = group_.ring();
    waits_ = ring == nullptr || !group_.may_tick() || is_under_way(*ring);
    follow(now_ns);
    if (waits_ || now_ns < due_ns_) return {};
    SendRing::Space space;
    waits_ = ring->claim(kTickBytes, space) != SendRing::Outcome::ok;
    if (waits_) return {};
    due_ns_ += every_ns_;
    if (due_ns_ <= now_ns) due_ns_ = now_ns + every_ns_;
    const std::uint64_t goes_on_ns = seen_ns_ + std::max<std::uint64_t>(1, now_ns - seen_at_ns_);
    const std::uint64_t time_ns = std::max(time_of_day(), seen_ns_ == 0 ? 1 : goes_on_ns);
    store_cell(space.payload, time_ns);
    ring->commit_tick(space);
    last_[++put_ % last_.size()] = space.index + 1;
    return PutTick{Ticket{space.index + 1}, time_ns};
  }

  /// When it wants to be passed next although nothing happens.
  [[nodiscard]] std::uint64_t next_pass_ns() const { return waits_ ? ~0ULL : due_ns_; }

 private:
  // TI3.
  [[nodiscard]] bool is_under_way(const SendRing& ring) const {
    return group_.own_records_delivered() < last_[put_ % last_.size()] ||
           ring.released() < last_[(put_ + 1) % last_.size()];
  }
  // TI2.
  void follow(std::uint64_t now_ns) {
    const std::uint64_t time_ns = group_.last_tick_ns();
    if (time_ns == seen_ns_) return;
    seen_ns_ = time_ns;
    seen_at_ns_ = now_ns;
  }

  Subgroup<Memory>& group_;
  const std::uint64_t every_ns_;
  bool waits_ = true;                // for something else than time
  std::uint64_t due_ns_ = 0;         // the first is due at once
  std::uint64_t seen_ns_ = 0;        // the time of the last tick that was walked over, 0: of none
  std::uint64_t seen_at_ns_ = 0;     // when that was seen
  std::vector<std::uint64_t> last_;  // the last ticks put here: the number behind each's record
  std::size_t put_ = 0;              // how many
};

}  // namespace tutti
