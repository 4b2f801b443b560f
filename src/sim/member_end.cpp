// How a member ends in order, step by step as a node does it (NodeCore::stop, leave and turn): it
// finishes its groups, waits until they are complete, says all it has to say, and passes no more.
#include <algorithm>

#include "history/make_event.hpp"
#include "sim/member.hpp"

namespace tutti::sim {

// Delivered here, too.
bool Member::sent_all() const {
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    const Subgroup<Memory>& subgroup = engine_->subgroup(g);
    if (subgroup.own_records_delivered() < seats_[g].last_claim) return false;
  }
  return true;
}

void Member::finish() {
  if (std::exchange(finished_, true)) return;
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    if (SendRing* ring = engine_->subgroup(g).ring()) ring->close();
  }
}

void Member::end(Ending how) {
  finish();
  ending_ = how;
}

// After a pass.
void Member::follow_end(bool idle) {
  if (ending_ == Ending::leaves && !asked_ && !stopped() && sent_all()) {
    asked_ = true;
    leave();
  }
  // If all end together, nobody may be there any more to let a leaver go.
  draining_ = draining_ || engine_->complete();
  if (draining_) engine_->drain();
  // Another pass might be one in a change of view, which would need this member to its end.
  if (!draining_ || !idle || !drained() || !engine_->may_end()) return;
  ended_ns_ = net_.now_ns();
  record(history::make_stopped({.view = view_id(), .time_ns = net_.now_ns()},
                               history::StopReason::left));
}

std::uint64_t Member::last_ticket(std::size_t group, const ViewMember& sender) const {
  const LastTicket& last = seats_[group].last[sender.slot];
  return last.incarnation == sender.incarnation ? last.ticket : 0;
}

}  // namespace tutti::sim
