// How a member ends when all is delivered, and what it does about others that have ended (P2).
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "engine/engine.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
bool Engine<Memory>::complete() const {
  return std::ranges::all_of(subgroups_, [](const auto& subgroup) { return subgroup->complete(); });
}

template <class Memory>
void Engine<Memory>::end(Ending how) {
  TUTTI_ASSERT(how != Ending::none && view().id != 0, self_, view().id);
  if (ending_ >= how) return;  // a member that leaves does so, though it is stopped as well
  ending_ = how;
  for (const auto& subgroup : subgroups_) {
    if (SendRing* ring = subgroup->ring()) ring->close();
  }
  follow_end();
}

template <class Memory>
bool Engine<Memory>::was_complete() {
  if (!renews_ && complete()) was_complete_.store(true, std::memory_order_release);
  return was_complete_.load(std::memory_order_acquire);
}

// Claims that are open count: they may still be committed.
template <class Memory>
bool Engine<Memory>::sent_all() const {
  return std::ranges::all_of(subgroups_, [](const auto& subgroup) {
    const SendRing* ring = subgroup->ring();
    return ring == nullptr || subgroup->own_records_delivered() >= ring->claimed();
  });
}

// True if it asks to leave. Views to which nodes were added may have begun since all was complete.
template <class Memory>
bool Engine<Memory>::follow_end() {
  const bool all_complete = complete();
  if (all_complete) joined_since_ = false;
  if (all_complete) was_complete_.store(true, std::memory_order_release);
  const bool waits_in_vain = was_complete() && !all_complete && (joined_since_ || has_joiners());
  const bool leaves = ending_ == Ending::leaves && sent_all();
  if (asked_to_leave_ || membership_->stopped() || !(leaves || waits_in_vain)) return false;
  ask_to_leave();
  return true;
}

template <class Memory>
void Engine<Memory>::ask_to_leave() {
  if (std::exchange(asked_to_leave_, true)) return;
  events_.asks_to_leave();
  membership_->leave();
}

// P2. Where all is complete, a decision is entered in the step that hears it: none is pending here.
template <class Memory>
bool Engine<Memory>::may_end() const {
  if (ending_ == Ending::none) return false;
  if (membership_->stopped() == StopReason::left) return true;
  // A member that stopped, because the others went on without it, takes part in nothing any more.
  const bool takes_part = membership_->changing() && !membership_->stopped();
  return complete() && (!takes_part || !enough_are_there());
}

template <class Memory>
bool Engine<Memory>::has_ended() const {
  return idle_ && may_end() && fabric_.drained();
}

template <class Memory>
bool Engine<Memory>::is_through() const {
  const auto has_senders = [](const auto& subgroup) { return subgroup->shape().senders() != 0; };
  return complete() && (ending_ != Ending::none || std::ranges::all_of(subgroups_, has_senders));
}

// The members of the view that have not ended, and are not suspected, may go on by themselves.
template <class Memory>
bool Engine<Memory>::enough_are_there() const {
  std::size_t there = 0;
  for (const Rank rank : view().ranks()) {
    const bool ended = std::ranges::find(ended_, view().members[rank]) != ended_.end();
    if (!ended && !membership_->suspects(rank)) ++there;
  }
  return membership_->quorum().may_go_on(there, view().members.size());
}

// A change of view waits for all unsuspected members. If too few are there, it would wait in vain;
// but then every member here has what it needs to end as well.
template <class Memory>
void Engine<Memory>::follow_ended() {
  const bool missed = membership_->changing() && enough_are_there();
  std::erase_if(ended_, [this, missed](const ViewMember& member) {
    if (!view().contains(member)) return true;
    if (!missed && is_done(member.slot)) return false;
    // P1: its slot is not let go while the view has it, so its next incarnation is not there yet.
    TUTTI_ASSERT(is_in_view(member.slot), member.slot, self_, view().id);
    membership_->lost(member.slot);
    return true;
  });
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Engine<NativeMemory>;
#endif

}  // namespace tutti
