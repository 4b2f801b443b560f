// How a group begins (J7), how a node finds the group that there is, and asks to leave it (J8).
#include <algorithm>

#include "membership/membership.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Membership<Memory>::begin(Effects& effects) {
  agreement_.join_decided();
  if (agreement_.decision() || group_exists()) return;
  if (!wedged_) {
    if (rows_.life(options_.self, ViewWords::kLeaving) != 0) return stop(StopReason::left);
    // What we say of the nodes connected to us lands before our wedge: see first_proposal().
    if (rows_.is_changed() || !time_to_create()) return;
    for (const Rank rank : view().ranks()) {
      if (rank != rows_.rank() && !is_founder(rank)) suspect(rank);
    }
    if (stopped_) return;
    wedge({});
  }
  follow_course(effects);
}

template <class Memory>
bool Membership<Memory>::group_exists() const {
  for (const Slot slot : ready_.indices()) {
    if (ready_[slot] != 0 && rows_.life(slot, ViewWords::kInstalled) != 0) return true;
  }
  return false;
}

// In view 0: the node is connected, and does not only join an existing group.
template <class Memory>
bool Membership<Memory>::is_founder(Rank rank) const {
  const Slot slot = view().members[rank].slot;
  return ready_[slot] != 0 && !rows_.says_suspected(rank, slot);
}

template <class Memory>
bool Membership<Memory>::time_to_create() const {
  if (!options_.may_create) return false;
  std::size_t here = 1;
  for (const Rank rank : view().ranks()) here += is_founder(rank) ? 1 : 0;
  if (here == view().members.size()) return true;
  if (options_.restarts) return false;
  return quorum().may_create(here, ready_.size(), options_.founders) &&
         now_ns_ - last_came_ns_ >= options_.create_after_ns;
}

// A node that has just come knows nothing of us. That we are in a view it must know first: see
// ViewRows::word() and joiners().
template <class Memory>
void Membership<Memory>::greet(Effects& effects) {
  rows_.mark_changed();
  // J7: to the founders it is as if this node were not there yet.
  if (view().id == 0 && !options_.may_create) rows_.say_suspected(options_.self);
  for (const Slot slot : greeted_) {
    const Slot peer{slot};
    effects.publish(peer, ViewWords::kInstalled.offset,
                    {rows_.own_row() + ViewWords::kInstalled, sizeof(std::uint64_t)});
    effects.publish(peer, ViewWords::kInstalled.offset,
                    {rows_.own_row() + ViewWords::kInstalled, rows_.words().life_bytes()});
    for (const std::uint64_t parity : {0, 1}) {
      const std::size_t block = rows_.words().block(parity);
      const auto bytes = static_cast<std::uint32_t>(2 * rows_.words().proposal_bytes());
      effects.write(peer, {block + rows_.words().proposal(0), bytes});
      effects.publish(peer, block, {rows_.own_row() + block, rows_.words().word_bytes()});
    }
  }
  greeted_.clear();
}

template <class Memory>
void Membership<Memory>::leave() {
  leaves_ = true;
  rows_.mark_changed();  // to be heeded in the next step
}

// J8. A view may begin in which some need it although it has asked. It takes that back where it
// leads, so that no other member acts on it: no member lets its leader go.
template <class Memory>
void Membership<Memory>::ask_to_leave() {
  const bool asks = rows_.life(options_.self, ViewWords::kLeaving) != 0;
  const bool needed = events_.is_needed();
  if (asks != needed) return;
  if (!asks && wedged_) return;  // it may be needed in the view that is about to begin
  if (!needed || suspicion_.leader() == rows_.rank())
    rows_.set_life(ViewWords::kLeaving, needed ? 0 : 1);
}

// No member is left to agree with; but what earlier views ended with is still delivered.
template <class Memory>
void Membership<Memory>::leave_alone() {
  if (view().members.size() != 1 || rows_.life(options_.self, ViewWords::kLeaving) == 0) return;
  const bool over = std::ranges::all_of(groups_, [](const Group& group) {
    const Subgroup<Memory>& subgroup = *group.subgroup;
    return subgroup.lacks_state() || (subgroup.caught_up() && subgroup.logged_all());
  });
  if (over) stop(StopReason::left);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Membership<NativeMemory>;
#endif

}  // namespace tutti
