// How a decision is heard, and the next view entered.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "membership/membership.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Membership<Memory>::hear_decision() {
  agreement_.hear_decision();
  // If this member wants to leave, the others let it go, or suspected it: that makes no difference
  // to it any more. If it is needed and has not asked, they suspected it.
  if (!agreement_.decision() && is_left_behind()) {
    const bool asked = rows_.life(options_.self, ViewWords::kLeaving) != 0;
    const bool goes = asked || (leaves_ && !events_.is_needed());
    stop(goes ? StopReason::left : StopReason::evicted);
  }
}

// Others have left the view after ours, or the one that this node joins: that needed all its
// members that they do not suspect.
template <class Memory>
bool Membership<Memory>::is_left_behind() const {
  const std::optional<Proposal>& decision = agreement_.decision();
  const bool joins = decision && joins_in(decision->next);
  const std::uint64_t left = decision ? decision->next.id : view().id + 1;
  const auto& members = joins ? decision->next.members : view().members;
  return std::ranges::any_of(members, [this, left](const ViewMember& member) {
    return member.slot != options_.self && rows_.life(member.slot, ViewWords::kInstalled) > left;
  });
}

template <class Memory>
bool Membership<Memory>::is_evicted_by(const Proposal& decision) const {
  return !decision.next.contains(rows_.self()) && !decision.leaves_in_order(rows_.self());
}

// Shows the decision, lets delivery go up to the cut, and enters the next view. The application may
// be behind; only a leaver waits until everything is delivered. True once the member has entered.
template <class Memory>
bool Membership<Memory>::apply_decision(Effects& effects) {
  const Proposal& decision = *agreement_.decision();
  const ViewMember& self = rows_.self();
  if (!joins_in(decision.next)) {
    if (!decision_shown_) {
      const bool evicted = is_evicted_by(decision);
      if (!agreement_.has_kept_decision()) {
        // What is evicted delivers nothing more: it does not wait for its disk.
        if (evicted) stop(StopReason::evicted);
        return false;
      }
      if (agreement_.accept_decision(effects)) publish(effects);  // L6
      rows_.set(ViewWords::kDecided, 1);
      publish(effects);
      if (evicted) {
        stop(StopReason::evicted);
        return false;
      }
      decision_shown_ = true;
    }
    const bool goes_on = decision.next.contains(self);
    bool all = true;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Subgroup<Memory>& subgroup = *groups_[g].subgroup;
      const bool ended = subgroup.end(decision.cuts[g]);
      if (subgroup.stale()) {
        // The members of the next view may be a view further by now. What was let go in order has
        // left then, without the last of what the others sent (J8).
        stop(goes_on ? StopReason::evicted : StopReason::left);
        return false;
      }
      all &= ended || (!goes_on && subgroup.lacks_state());
    }
    if (!all) return false;
    if (!goes_on) {
      // A member that leaves before it got the state it joined for has nothing to deliver. If one
      // group never comes to this view, no other delivers anything in it (P3).
      bool in_vain = false;
      std::vector<Subgroup<Memory>*> behind;
      for (const Group& group : groups_) {
        Subgroup<Memory>& subgroup = *group.subgroup;
        if (subgroup.lacks_state() || has_parted(group)) continue;
        if (!subgroup.delivered_all()) behind.push_back(&subgroup);
        in_vain |= subgroup.waits_in_vain();
      }
      const bool over = std::ranges::all_of(behind, [in_vain](Subgroup<Memory>* subgroup) {
        return in_vain && !subgroup->caught_up() && subgroup->at_rest();
      });
      if (!over) return false;
      stop(StopReason::left);
      return false;
    }
  }
  if (!is_install_kept(decision)) return false;
  enter(Proposal(decision), effects);
  return true;
}

template <class Memory>
std::uint64_t Membership<Memory>::first_view() const {
  return options_.restarts ? options_.restarts->id : kFirstView;
}

template <class Memory>
bool Membership<Memory>::joins_in(const View& next) const {
  return view().id == 0 && next.id != first_view();
}

// Of the next view. Members that were in the view before have counted, the others are told.
template <class Memory>
std::uint64_t Membership<Memory>::first_seq_in(const Proposal& decision, std::size_t group) const {
  const bool logged = groups_[group].seat.options().logged;
  if (joins_in(decision.next)) return logged ? decision.cuts[group].next_seq : kUnknownSeq;
  if (view().id != 0) return groups_[group].subgroup->next_seq();
  return options_.restarts ? options_.restarts->firsts[group] : 0;
}

template <class Memory>
bool Membership<Memory>::is_install_kept(const Proposal& decision) const {
  if (options_.log == nullptr) return true;
  std::vector<std::uint64_t> firsts;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const bool logged = groups_[g].seat.options().logged;
    firsts.push_back(logged ? first_seq_in(decision, g) : 0);
  }
  return options_.log->has_installed(decision.next, firsts);
}

template <class Memory>
bool Membership<Memory>::is_kept(const Proposal& proposal, Rank ballot) {
  return options_.log == nullptr ||
         options_.log->has_accepted(view().id, proposal, ballot.value + 1);
}

// Z10.
template <class Memory>
void Membership<Memory>::tell_confirmed() {
  const auto is_confirmed = [](const Group& group) { return group.subgroup->is_on_disks(); };
  if (!std::ranges::all_of(groups_, is_confirmed)) return;
  confirmed_ = true;
  options_.log->confirmed(view().id);
}

// L4.
template <class Memory>
void Membership<Memory>::clear_next(Effects& effects) {
  clear_blocks(view().id + 1, view().members, effects);
}

template <class Memory>
void Membership<Memory>::clear_blocks(std::uint64_t id, const IndexedBy<Rank, ViewMember>& members,
                                      Effects& effects) {
  std::byte* block = rows_.own_row() + rows_.words().block(id);
  rows_.store(block + ViewWords::kEpoch, 0);
  for (std::size_t offset = 8; offset < rows_.words().word_bytes(); offset += 8) {
    rows_.store(block + offset, 0);
  }
  for (const Group& group : groups_) group.seat.clear_block(id, rows_.memory());
  const auto to = [&](Slot slot) {
    if (slot == options_.self) return;
    effects.publish(slot, rows_.words().block(id), {block, rows_.words().word_bytes()});
    for (const Group& group : groups_) {
      const GroupSeat::Block words = group.seat.block(id);
      effects.publish(slot, words.offset, {rows_.own_row() + words.offset, words.bytes});
    }
  };
  for (const ViewMember& member : members) to(member.slot);
  const auto listed = [&](Slot slot) {
    return std::ranges::find(members, slot, &ViewMember::slot) != members.end();
  };
  for (const Slot slot : ready_.indices()) {
    if (ready_[slot] != 0 && !listed(slot)) to(slot);
  }
}

template <class Memory>
void Membership<Memory>::enter(const Proposal& decision, Effects& effects) {
  const View& next = decision.next;
  TUTTI_ASSERT(view().id == 0 || next.id == view().id + 1, next.id, view().id, rows_.rank().value);
  const View before = view().id == 0 ? View{} : view();
  const bool joins = joins_in(next);
  std::vector<std::uint64_t> firsts;
  for (std::size_t g = 0; g < groups_.size(); ++g) firsts.push_back(first_seq_in(decision, g));
  std::vector<ViewMember> suspects;
  for (const Rank rank : before.ranks()) {
    if (suspicion_.of(rank)) suspects.push_back(before.members[rank]);
  }
  // A new member was connected to us when it was chosen; if it is no more, it was lost since.
  for (const ViewMember& member : next.members) {
    const bool known = before.contains(member) || member.slot == options_.self;
    if (!known && ready_[member.slot] != member.incarnation) suspects.push_back(member);
  }
  for (const ViewMember& member : before.members) {
    if (next.contains(member)) continue;
    space_held_ = true;  // until let_space_go(), maybe views later
    const bool lost = std::ranges::find(lost_, member.slot) != lost_.end();
    if (decision.leaves_in_order(member) && !lost) {
      leavers_.push_back({member, now_ns_ + options_.suspect_after_ns});
    } else {
      events_.removed(member);
    }
  }
  lost_.clear();
  orphaned_since_ns_.reset();
  rows_.enter(next);
  // A joiner may have taken part in founding, in a block that is now this view's.
  if (joins) {
    clear_blocks(next.id, next.members, effects);
    agreement_.show_joined(decision, effects);
  }
  for (const ViewMember& member : decision.left) {
    if (removed_.size() == kRemovedKept) removed_.pop_front();
    removed_.push_back(member.incarnation);
  }
  for (const ViewMember& member : decision.left) {
    if (before.id != 0 || member.slot == options_.self) continue;
    const bool in_order = decision.leaves_in_order(member);
    events_.left_before(member, in_order);
    if (in_order) leavers_.push_back({member, now_ns_ + options_.suspect_after_ns});
  }
  wedged_ = decision_shown_ = confirmed_ = false;
  suspicion_.begin_view();
  agreement_.begin_view();

  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    const bool is_new = renew(g, before, next);
    auto [shape, in_row] = group.seat.in(next, rows_.row_of());
    shape.first_seq = firsts[g];
    shape.own_base_records =
        is_new || joins || before.id == 0 ? 0 : group.subgroup->own_records_before();
    const std::vector<Slot> peers = in_row.peers;
    const std::uint32_t base = group.subgroup->enter(shape, std::move(in_row));
    group.subgroup->hold_space(space_held_);
    group.seat.prepare_block(next.id, base, shape.first_seq, rows_.memory());
    const GroupSeat::Block block = group.seat.block(next.id);
    const auto publish_block = [&] {
      for (const Slot peer : peers) {
        effects.publish(peer, block.offset, {rows_.own_row() + block.offset, block.bytes});
      }
    };
    publish_block();
    group.seat.open_block(next.id, rows_.memory());
    publish_block();
  }
  for (const ViewMember& member : next.members) {
    if (ready_[member.slot] == member.incarnation) ready_[member.slot] = 0;
  }
  for (const ViewMember& member : next.members) {
    if (!before.contains(member)) suspicion_.watch(member.slot);
  }
  rows_.set(ViewWords::kEpoch, next.id);
  rows_.set_life(ViewWords::kInstalled, next.id);
  events_.installed(next, before);
  for (const ViewMember& member : suspects) {
    if (next.contains(member)) suspect(*next.rank_of(member.slot));
  }
}

template <class Memory>
bool Membership<Memory>::is_leaver(Slot slot) const {
  return std::ranges::any_of(leavers_,
                             [slot](const Leaver& leaver) { return leaver.member.slot == slot; });
}

// J8: leavers of which nothing more is awaited, because they are lost or their time is over.
template <class Memory>
void Membership<Memory>::see_off(std::optional<Slot> lost) {
  const auto [gone, end] = std::ranges::stable_partition(leavers_, [&](const Leaver& leaver) {
    return lost != leaver.member.slot && now_ns_ < leaver.until_ns;
  });
  for (auto leaver = gone; leaver != end; ++leaver) events_.removed(leaver->member);
  leavers_.erase(gone, end);
}

template <class Memory>
void Membership<Memory>::let_space_go() {
  if (!leavers_.empty()) return;
  space_held_ = false;
  for (Group& group : groups_) group.subgroup->hold_space(false);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Membership<NativeMemory>;
#endif

}  // namespace tutti
