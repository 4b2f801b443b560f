/// \file barrier.hpp
/// A barrier of a group at Level::atomic or durable: a null of this member's own, which comes in
/// the sequence behind all that any member had delivered when the barrier began.
///
/// Invariants:
///  BR1  The null is claimed after the barrier began, and takes its place in the sequence once the
///       predicate thread sends it: behind all that this member has said to have received. For a
///       step sends, and gives up the rounds that it owes, before it publishes what it received.
///  BR2  No member delivers what this one has not said to have received (I2; at `durable` it waits
///       for disks besides). So all that any member had delivered comes before the null.
///  BR3  The null counts as delivered only where all members of a view have it (I2), and in the
///       sequence. So a member that the others went on without passes no barrier: none of them
///       receives its null. One that the view's end left out is sent again, as a message is (R4).
/// At Level::agreed neither BR2 nor BR3 holds: the others may have gone on without this member,
/// which delivers its own null all the same.
/// Threads: any.
#pragma once
#include "multicast/subgroup.hpp"
#include "smc/send_ring.hpp"
#include "tutti/types.hpp"

namespace tutti {

class Barrier {
 public:
  /// Begins: ends the claim of `space`, which was made for it, as a null.
  Barrier(SendRing& ring, const SendRing::Space& space) noexcept : null_{space.index + 1} {
    ring.abandon(space);
  }

  /// The ticket of its null.
  [[nodiscard]] Ticket null() const { return null_; }

  /// This member has delivered all that comes before the null.
  template <class Memory>
  [[nodiscard]] bool passed(const Subgroup<Memory>& group) const {
    return group.own_records_delivered() >= null_.value;
  }

 private:
  Ticket null_;
};

}  // namespace tutti
