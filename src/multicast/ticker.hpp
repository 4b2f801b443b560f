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
///  TI2  The time of a tick is more than that of every tick that this member walked over, or put.
///  TI3  One tick of a clock is under way at a time; it is delivered before the next is put. What
///       is missed for that, or for want of space, is left out.
///  TI4  Who has finished puts none: ticks keep no group from becoming complete.
/// Threads: the predicate thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

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
      : group_(group), every_ns_(group.shape().tick_every_ns) {}

  /// Puts the tick that is due, if this member is the clock. `now_ns`: of the pass; `wall_ns`: of
  /// the system clock.
  [[nodiscard]] std::optional<PutTick> pass(std::uint64_t now_ns, std::uint64_t wall_ns) {
    SendRing* const ring = group_.ring();
    waits_ = ring == nullptr || !group_.may_tick() || group_.own_records_delivered() < last_.value;
    if (waits_ || now_ns < due_ns_) return {};
    SendRing::Space space;
    waits_ = ring->claim(kTickBytes, space) != SendRing::Outcome::ok;
    if (waits_) return {};
    due_ns_ += every_ns_;
    if (due_ns_ <= now_ns) due_ns_ = now_ns + every_ns_;
    time_ns_ = std::max({wall_ns, time_ns_ + 1, group_.last_tick_ns() + 1});
    store_cell(space.payload, time_ns_);
    ring->commit_tick(space);
    last_ = Ticket{space.index + 1};
    return PutTick{last_, time_ns_};
  }

  /// When it wants to be passed next although nothing happens.
  [[nodiscard]] std::uint64_t next_pass_ns() const { return waits_ ? ~0ULL : due_ns_; }

 private:
  Subgroup<Memory>& group_;
  const std::uint64_t every_ns_;
  bool waits_ = true;         // for something else than time
  std::uint64_t due_ns_ = 0;  // the first is due at once
  std::uint64_t time_ns_ = 0;
  Ticket last_{};
};

}  // namespace tutti
