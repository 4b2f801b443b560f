/// \file engine_events.hpp
/// What an Engine tells its owner, and what it has done by it. All on the thread that passes,
/// in a pass or in connected() and lost().
#pragma once
#include <cstdint>
#include <string>

#include "fabric/slot.hpp"
#include "membership/membership.hpp"
#include "multicast/ticker.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// A view in force: which one was before, and what its members agreed on.
struct Entry {
  View view;
  View before;
  Proposal decision;
};

class EngineEvents {
 public:
  virtual ~EngineEvents() = default;

  // The course of the protocol; the application may be behind it.
  virtual void suspected(const ViewMember& /*member*/) {}
  virtual void wedged(WedgeReason /*reason*/, const ViewMember& /*joiner*/) {}
  virtual void decided(const Proposal& /*proposal*/) {}
  virtual void entered(const Entry& entry) = 0;
  /// This member is in no view any more, or has come into none.
  virtual void stopped(StopReason reason) = 0;
  /// That incarnation was removed: it must not come again (M6).
  virtual void removed(const ViewMember& /*member*/) {}

  /// With the view that is about to begin this member comes into a group that is joined at run time
  /// and has the place of that group of the plan (Engine::subgroup). Returns what its messages are
  /// delivered to.
  [[nodiscard]] virtual DeliveryCallback joins(std::size_t /*group*/, const OpenGroup& /*open*/) {
    return {};
  }
  /// This member has put a tick into that group's sequence.
  virtual void ticked(std::size_t /*group*/, const PutTick& /*tick*/) {}

  // Connections.
  /// The fabric lost a member of the view. `let_go`: it was leaving in order.
  virtual void lost(Slot /*slot*/, const std::string& /*reason*/, bool /*let_go*/) {}
  /// A node that is connected and in no view with this one shows no sign of life.
  virtual void silent(Slot /*slot*/) {}
  /// Ends the connection to the node in that slot, whose row is not read any more: it, or the next
  /// one there, may be connected again.
  virtual void let_go(Slot slot) = 0;
  /// The path from the node in that slot does not keep what the fabric promised.
  virtual void distrusted(Slot /*slot*/, const std::string& /*what*/) {}

  /// In each pass, once everything was stepped, before the application is called. True: the next
  /// pass has something to do.
  virtual bool stepped() { return false; }

  /// The application is to be called no more, from now on.
  [[nodiscard]] virtual bool ends() const { return false; }

  // The application's course: what it is to be told, in this order.
  /// All that comes before the view is delivered here. What members that join need is taken next.
  virtual void reached(const Entry& /*entry*/) {}
  /// The state that this member joined for comes from the member in that slot. Told again and
  /// again.
  virtual void takes_from(Slot /*slot*/) {}
  /// This member asks to leave: its application wants that and all it sent is delivered here; or it
  /// waits for its end and nodes join; or all that gave it the state are gone. The others may need
  /// its vote to go on.
  virtual void asks_to_leave() {}
  /// The view, before anything is delivered in it (P3); only from a pass that may call it.
  virtual void tell(const Entry& entry) = 0;
  /// The node joined, and the state that it needs cannot be had.
  virtual void no_state(const Error& why) = 0;
};

}  // namespace tutti
