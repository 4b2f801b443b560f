/// \file log_follower.hpp
/// A second follower of a group that is logged: hands what is stable to the member's log, before
/// or while the application's follower delivers it.
///
/// Invariants:
///  FO1  The log takes what is stable at Level::atomic, in the group's order, and nothing else
///       (docs/restart-model.md, Z3): it goes by the same bounds as the application.
///  FO2  A member says `persisted` only of what its disk has (LogSink), and at Level::durable the
///       application is handed only what comes before the least `persisted` of the newest view;
///       with durable_quorum before the greatest that a majority of that view has. It only grows:
///       what was durable once stays so.
///  FO3  Space is used again only once the log has copied what is in it: this member's position is
///       the lesser of both followers'.
///  FO4  What the log keeps is what was sent: whether others have used the space again is asked
///       after the copy (Follower, Y5).
/// A node that delivers the group nowhere has no log, and says that it lacks nothing.
/// Threads: the predicate thread.
#pragma once
#include <algorithm>
#include <cstdint>

#include "multicast/follower.hpp"
#include "multicast/log_sink.hpp"
#include "multicast/multicast.hpp"

namespace tutti {

template <class Memory>
class LogFollower {
 public:
  /// Null: this node keeps no log of the group.
  explicit LogFollower(LogSink* sink) : sink_(sink) {}

  [[nodiscard]] bool logs() const { return sink_ != nullptr; }
  [[nodiscard]] DeliveryTotals& totals() { return totals_; }

  /// What the newest view is told, and what may be delivered by it: a number, or all.
  std::uint64_t tell(Multicast<Memory>& newest) {
    newest.set_persisted(sink_ == nullptr ? kAllPersisted : sink_->persisted());
    durable_ = std::max(durable_, newest.durable_end());
    return durable_;
  }

  /// The sequence begins for this member with that number. Once, before take().
  void begin(std::uint64_t seq) {
    sink_->begin(seq);
    begun_ = true;
  }
  [[nodiscard]] bool has_begun() const { return begun_; }

  /// Hands on what may be delivered in the follower's view. True if anything moved.
  bool take(Follower<Memory>& follower) {
    bool moved = false;
    while (sink_->has_room()) {
      const Taken taken = follower.take(kDeliveryBatchMax);
      moved |= taken.moved;
      if (taken.messages.empty()) break;
      // FO4. A follower that finds so at its next take() is stale.
      const bool kept = sink_->append(taken.messages, [&] { return follower.in_place(); });
      follower.release();
      moved = true;
      if (!kept) break;
    }
    return moved;
  }

 private:
  LogSink* const sink_;
  DeliveryTotals totals_;  // of its own: what it takes is not delivered
  bool begun_ = false;
  std::uint64_t durable_ = 0;
};

}  // namespace tutti
