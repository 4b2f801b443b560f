/// \file membership_events.hpp
/// What a Membership tells its driver, and why a view ends.
#pragma once
#include <cstdint>

#include "fabric/slot.hpp"
#include "membership/proposal.hpp"
#include "membership/view.hpp"

namespace tutti {

enum class StopReason : std::uint8_t {
  left,      ///< it asked to leave, and the others let it go
  evicted,   ///< the others suspected it and went on
  minority,  ///< it is not connected to a majority of its view
  orphaned,  ///< it joined, and all members that knew the number of its first message are lost
};

/// Why a member ends its view: the first of these that holds. `told`: only because others wedge;
/// `groups`: members wish to be in other groups than they are (GR3).
enum class WedgeReason : std::uint8_t { told, suspicion, leave, join, groups };

/// What the driver is told. Called from step(), on the predicate thread.
class MembershipEvents {
 public:
  virtual ~MembershipEvents() = default;
  virtual void suspected(const ViewMember& /*member*/) {}
  /// `joiner`: a node that waits to join, if that is the reason.
  virtual void wedged(WedgeReason /*reason*/, const ViewMember& /*joiner*/) {}
  virtual void decided(const Proposal& /*proposal*/) {}
  /// The view is in force. `before` is the last one, empty for the first. Its messages, and those
  /// of earlier views, may still have to be delivered (Subgroup::delivered_before).
  virtual void installed(const View& view, const View& before) = 0;
  virtual void stopped(StopReason reason) = 0;
  /// A member that is gone. Deliveries of views that it was in may still read its row.
  virtual void removed(const ViewMember& member) = 0;
  /// A member that left, or was removed, in the change by which this node joins: it must not come
  /// again (M6).
  virtual void left_before(const ViewMember& /*member*/, bool /*in_order*/) {}
  /// Asked at each look: what Fabric::heard() says of the node in that slot.
  [[nodiscard]] virtual std::uint64_t heard(Slot /*slot*/) const { return 0; }
  /// Asked where this member wants to leave: while others need it, it does not ask to.
  [[nodiscard]] virtual bool is_needed() const { return false; }
};

}  // namespace tutti
