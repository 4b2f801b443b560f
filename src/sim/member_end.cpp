// How a member ends in order: the engine says when, as it does in a node, and the member passes no
// more.
#include <utility>

#include "history/make_event.hpp"
#include "sim/log_watch.hpp"
#include "sim/member.hpp"

namespace tutti::sim {

void Member::finish() {
  if (std::exchange(finished_, true)) return;
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    if (SendRing* ring = engine_->subgroup(g).ring()) ring->close();
  }
  wake_handlers(false);  // those that wait for space
}

void Member::end(Ending how) {
  finish();
  engine_->end(how);
}

// One that joined and lost its state has nothing to wait for.
void Member::asks_to_leave() {
  if (died_) return;
  if (ending() != Ending::none && !idle() && !lost_state() && finding_.empty()) {
    finding_ = "D10: " + name() + " asks to leave before what it sent is delivered";
  }
  record(event(history::EventKind::leave));
}

// After a pass. The world takes a connection down after its last words; a fabric need not.
void Member::follow_end() {
  if (!engine_->has_ended()) return;
  if (!drained() && finding_.empty()) {
    finding_ = "P2: " + name() + " ended before its last words were with the others";
  }
  ended_ns_ = net_.now_ns();
  if (plan_.logs != nullptr) plan_.logs->stop(self_);
  wake_handlers(true);
  record(history::make_stopped({.view = view_id(), .time_ns = net_.now_ns()},
                               history::StopReason::left));
}

std::uint64_t Member::last_ticket(std::size_t group, const ViewMember& sender) const {
  const LastTicket& last = seats_[group].last[sender.slot];
  return last.incarnation == sender.incarnation ? last.ticket : 0;
}

}  // namespace tutti::sim
