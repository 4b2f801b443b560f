// Which nodes are connected, and which rows may be let go.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "engine/engine.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Engine<Memory>::connected(Slot slot, std::uint64_t incarnation) {
  TUTTI_ASSERT(slot.value < connected_.size() && slot != self_, slot, self_, view().id);
  TUTTI_ASSERT(connected_[slot] == 0 && !is_parting(slot), slot, connected_[slot], self_,
               view().id);  // HS1, P1
  connected_[slot] = incarnation;
  outsiders_.watch(slot);
  if (litmus_ != nullptr) return litmus_->begin(slot, incarnation);
  membership_->ready(slot, incarnation);
}

template <class Memory>
bool Engine<Memory>::is_in_view(Slot slot) const {
  return view().id != 0 && view().contains({slot, connected_[slot]});
}

template <class Memory>
bool Engine<Memory>::is_parting(Slot slot) const {
  return std::ranges::find(parting_, slot, &Parting::slot) != parting_.end();
}

template <class Memory>
bool Engine<Memory>::delivered_before(std::uint64_t view) const {
  return std::ranges::all_of(
      subgroups_, [view](const auto& subgroup) { return subgroup->delivered_before(view); });
}

template <class Memory>
bool Engine<Memory>::is_done(Slot slot) const {
  TUTTI_ASSERT(view().rank_of(slot).has_value(), slot, self_, view().id);
  const Rank rank = *view().rank_of(slot);
  return std::ranges::all_of(subgroups_,
                             [rank](const auto& subgroup) { return subgroup->complete_at(rank); });
}

template <class Memory>
void Engine<Memory>::lost(Slot slot, const std::string& reason) {
  TUTTI_ASSERT(slot.value < connected_.size() && slot != self_, slot, self_, view().id);
  if (connected_[slot] == 0) return;
  if (!is_in_view(slot)) return lost_outsider(slot);
  states_->gone(slot);
  // No change of view tells it.
  if (is_done(slot) && requests_ != nullptr) requests_->gone(slot);
  if (is_done(slot)) return ended_.push_back({slot, connected_[slot]});  // P2
  TUTTI_ASSERT(!membership_->has_decided() || decision_, slot, self_, view().id);
  const bool let_go =
      membership_->has_decided() && decision_->leaves_in_order({slot, connected_[slot]});
  events_.lost(slot, reason, let_go);
  membership_->lost(slot);
}

template <class Memory>
void Engine<Memory>::lost_outsider(Slot slot) {
  membership_->lost(slot);
  if (is_seated(slot) || is_parting(slot)) return;
  // P1: what it sent may still be delivered here. A stopped member sees no leaver off.
  if (membership_->is_leaver(slot)) return parting_.push_back({slot, view().id});
  part(slot);
}

template <class Memory>
void Engine<Memory>::removed(const ViewMember& member) {
  TUTTI_ASSERT(member.slot != self_ && view().id != 0, member.slot, self_, view().id);
  events_.removed(member);
  states_->gone(member.slot);
  to_hang_up_.push_back(member);
  if (connected_[member.slot] == 0) return;  // or another incarnation: what is read is the slot
  const bool entering = decision_ && decision_->next.id == view().id + 1;
  const std::uint64_t view = entering ? this->view().id + 1 : this->view().id;
  // An earlier incarnation may still be parting: what is let go is the slot, once, when nobody
  // reads.
  const auto parting = std::ranges::find(parting_, member.slot, &Parting::slot);
  if (parting == parting_.end()) {
    parting_.push_back({member.slot, view});
  } else {
    parting->view = view;
  }
}

// F-data: what is still queued for them lies where our next records go. They have been told.
template <class Memory>
void Engine<Memory>::hang_up_on_removed() {
  for (const ViewMember& member : std::exchange(to_hang_up_, {})) {
    if (connected_[member.slot] == member.incarnation) fabric_.hang_up(member.slot);
  }
  membership_->let_space_go();
}

// A node that joins may be connected to members that leave just then. No view of ours had them. Of
// those that leave in order, some may not have heard yet that they may: they must not hear first
// that they are refused, which they are once their time is over.
template <class Memory>
void Engine<Memory>::left_before(const ViewMember& member, bool in_order) {
  if (!in_order) events_.removed(member);
  const bool is_connected = connected_[member.slot] == member.incarnation;
  if (is_connected && !is_parting(member.slot)) parting_.push_back({member.slot, view().id});
}

template <class Memory>
void Engine<Memory>::part_from_removed() {
  std::erase_if(parting_, [this](const Parting& gone) {
    if (!delivered_before(gone.view)) return false;
    if (!is_seated(gone.slot)) part(gone.slot);  // else its next incarnation has come in meanwhile
    return true;
  });
}

// P1: nothing points into its row any more.
template <class Memory>
void Engine<Memory>::part(Slot slot) {
  if (std::exchange(connected_[slot], 0) == 0) return;
  TUTTI_ASSERT(!is_seated(slot), slot, self_, view().id);  // P1
  states_->gone(slot);
  if (litmus_ != nullptr) litmus_->end(slot);
  // Of two incarnations, the view had the one that this member never met: the other goes with it.
  membership_->ready(slot, 0);
  events_.let_go(slot);
}

template <class Memory>
void Engine<Memory>::follow_litmus() {
  beat_on_trial();
  for (const Slot slot : litmus_->take_good()) membership_->ready(slot, connected_[slot]);
  if (const auto& finding = litmus_->finding()) events_.distrusted(finding->slot, finding->what);
}

// A node on trial is not known to the membership yet, and sees by these beats that we live. How far
// its trial has come proves nothing: it stands still while another node in it is silent (LI1).
template <class Memory>
void Engine<Memory>::beat_on_trial() {
  const auto beat = NativeMemory::load(own_row_ + ViewWords::kHeartbeat);
  if (std::exchange(shown_beat_, beat) == beat) return;
  for (const Slot slot : connected_.indices()) {
    if (!litmus_->tries(slot)) continue;
    fabric_.publish(slot, ViewWords::kHeartbeat.offset,
                    {own_row_ + ViewWords::kHeartbeat, sizeof beat});
  }
  fabric_.flush();
}

// P4. Without its beats it is not admitted either; if it lives, it calls again.
template <class Memory>
void Engine<Memory>::watch_outsiders() {
  next_outsiders_ns_ = now_ns_ + patience_ns_ / 16;
  outsiders_.look(now_ns_);
  for (const Slot slot : connected_.indices()) {
    if (connected_[slot] == 0 || is_in_view(slot) || is_parting(slot)) continue;
    // As of members: a beat may wait behind much data of its own.
    outsiders_.heard(slot,
                     memory_.load(row_of_(slot) + ViewWords::kHeartbeat) + fabric_.heard(slot));
    if (!outsiders_.silent(slot)) continue;
    events_.silent(slot);
    lost_outsider(slot);
  }
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Engine<NativeMemory>;
#endif

}  // namespace tutti
