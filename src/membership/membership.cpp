// The course of a view: how a member beats, publishes its words, suspects others and wedges.
#include "membership/membership.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

// All nodes, by slot; of a restart's view, its members.
View view_0_of(const MembershipOptions& options) {
  View view;
  const auto add = [&](Slot slot) {
    view.members.push_back({slot, slot == options.self ? options.incarnation : 0});
  };
  if (options.restarts) {
    for (const Slot slot : options.restarts->members) add(slot);
  } else {
    for (const Slot slot : options.nodes.indices()) add(slot);
  }
  return view;
}

}  // namespace

template <class Memory>
Membership<Memory>::Membership(MembershipOptions options, const ViewWords& words,
                               std::vector<Group> groups, std::byte* own_row, RowOf row_of,
                               MembershipEvents& events, Memory memory, const GroupSpaces& spaces,
                               Renew renew)
    : options_(std::move(options)),
      groups_(std::move(groups)),
      spaces_(spaces),
      renew_(std::move(renew)),
      events_(events),
      ready_(options_.nodes.size()),
      rows_(words, {options_.self, options_.incarnation}, view_0_of(options_), own_row,
            std::move(row_of), memory),
      suspicion_(
          rows_, quorum(), options_.nodes.size(), options_.suspect_after_ns,
          [this](Rank rank) {
            suspect(rank);
            return !stopped_;
          },
          [this](Slot slot) { return events_.heard(slot); }),
      agreement_(rows_, suspicion_, quorum(), ready_, *this),
      wishes_(rows_, spaces, static_cast<std::uint32_t>(options_.nodes.size())) {
  TUTTI_ASSERT(!options_.restarts || options_.restarts->id % 2 == 1, options_.restarts->id,
               options_.self);  // view 0 has the other block
  TUTTI_ASSERT(!options_.restarts || options_.restarts->firsts.size() == groups_.size(),
               options_.restarts->firsts.size(), groups_.size(), options_.self);
  told_.reserve(options_.nodes.size());
}

template <class Memory>
bool Membership<Memory>::step(Effects& effects) {
  if (stopped_) return false;
  if (now_ns_ < next_look_ns_ && !rows_.is_changed() && !wedged_) return false;
  next_look_ns_ = now_ns_ + options_.look_every_ns;
  if (!leavers_.empty()) see_off({});
  if (leaves_) [[unlikely]]
    ask_to_leave();
  const bool was_changing = wedged_;
  const std::uint64_t before = view().id;
  const bool beats = beat();
  if (!greeted_.empty()) greet(effects);
  if (view().id == 0) {
    begin(effects);
  } else {
    if (!spaces_.all.empty()) wishes_.look();
    hear_decision();
    leave_alone();
    // Once the next view is decided, it may be the last one on disk.
    if (!confirmed_ && options_.log != nullptr && !agreement_.decision()) tell_confirmed();
    if (!stopped_ && !agreement_.decision()) follow_course(effects);
  }
  if (stopped_) return true;
  if (rows_.is_changed()) {
    publish(effects);
  } else if (beats) {
    publish(effects);
    effects.flush();
    rows_.mark_changed(false);  // a heartbeat alone is no work: nobody answers it
  }
  if (agreement_.decision()) {
    if (apply_decision(effects)) {
      publish(effects);
      // Those that it suspects in the new view from the first may be so many that it has looked for
      // a decision there: it delivers nothing once it knows that it is not in the next one.
      const std::optional<Proposal>& next = agreement_.decision();
      if (next && is_evicted_by(*next)) stop(StopReason::evicted);
    } else if (!stopped_) {
      await_cut();
    }
  }
  const bool changed = std::exchange(filled_, false) || rows_.is_changed();
  rows_.mark_changed(false);
  return changed || was_changing != wedged_ || before != view().id;
}

// A member that still lacks messages before the cut must find out if no other member will give
// them. A member that the others suspect may still see them live, in rows that they share.
template <class Memory>
void Membership<Memory>::await_cut() {
  suspicion_.watch_heartbeats(now_ns_);
  const ViewMember& self = rows_.self();
  if (agreement_.decision()->next.contains(self) && is_left_behind()) stop(StopReason::evicted);
  if (!is_orphaned()) return;
  stop(agreement_.decision()->next.contains(self) ? StopReason::orphaned : StopReason::left);
}

// Members that were in the view before know the number of a view's first message, and tell those
// that joined. If none of the former goes on, the number comes from a joiner that heard it in time,
// or never.
template <class Memory>
bool Membership<Memory>::is_orphaned() {
  const View& next = agreement_.decision()->next;
  const auto members = view().members.begin();
  const bool orphans = view().survivors != 0 && std::none_of(members, members + view().survivors,
                                                             [&](const ViewMember& member) {
                                                               return next.contains(member);
                                                             });
  const bool lacks = std::ranges::any_of(
      groups_, [](const Group& group) { return !group.subgroup->knows_first_seq(); });
  if (!orphans || !lacks) {
    orphaned_since_ns_.reset();
    return false;
  }
  if (!orphaned_since_ns_) orphaned_since_ns_ = now_ns_;
  return now_ns_ - *orphaned_since_ns_ >= options_.suspect_after_ns;
}

template <class Memory>
void Membership<Memory>::follow_course(Effects& effects) {
  suspicion_.watch_heartbeats(now_ns_);
  if (!stopped_) suspicion_.hear_others();
  if (stopped_ || agreement_.decision()) return;
  if (!wedged_) {
    const Wedge why = reason_to_wedge();
    if (why.reason != WedgeReason::told || others_wedge()) wedge(why);
  }
  if (!wedged_) return;
  if (suspicion_.is_alone()) return stop(StopReason::minority);  // J9
  fill_gaps(effects);
  settle();
  if (leaves_ && suspicion_.leader() == rows_.rank())
    ask_to_leave();  // it may lead since this step
  agreement_.step(effects);
}

template <class Memory>
bool Membership<Memory>::beat() {
  if (now_ns_ < next_beat_ns_) return false;
  next_beat_ns_ = now_ns_ + options_.heartbeat_ns;
  rows_.store(rows_.own_row() + ViewWords::kHeartbeat, ++heartbeat_);
  return true;
}

template <class Memory>
void Membership<Memory>::suspect(Rank rank) {
  if (stopped_ || suspicion_.of(rank)) return;
  // This member tells first: others on its host may act on its word at once, and tell of that.
  if (view().id != 0) events_.suspected(view().members[rank]);
  suspicion_.add(rank);
  if (suspicion_.may_go_on()) return;
  // What was decided stands: the next view shows whether enough members are left to go on.
  if (view().id != 0 && !agreement_.decision()) hear_decision();
  if (!agreement_.decision()) stop(StopReason::minority);  // J6
}

template <class Memory>
void Membership<Memory>::lost(Slot slot) {
  if (stopped_) return;
  if (!leavers_.empty()) see_off(slot);
  ready(slot, 0);
  // J7: before it is time to create a group, the node may come again; a joiner awaits a decision.
  if (view().id == 0 && (!wedged_ || group_exists())) return;
  const std::optional<Rank> rank = view().rank_of(slot);
  if (!rank || *rank == rows_.rank()) return;
  lost_.push_back(slot);
  suspect(*rank);
}

template <class Memory>
void Membership<Memory>::ready(Slot slot, std::uint64_t incarnation) {
  ready_[slot] = incarnation;
  rows_.set_life(ViewWords::ready(slot), held_ ? 0 : incarnation);
  if (incarnation == 0 || stopped_) return;
  greeted_.push_back(slot);
  last_came_ns_ = now_ns_;
  suspicion_.watch(slot);
}

template <class Memory>
void Membership<Memory>::hold_back(bool held) {
  if (std::exchange(held_, held) == held || view().id != 0) return;
  for (const Slot slot : ready_.indices()) {
    rows_.set_life(ViewWords::ready(slot), held ? 0 : ready_[slot]);
  }
}

template <class Memory>
bool Membership<Memory>::was_removed(std::uint64_t incarnation) const {
  return std::ranges::find(removed_, incarnation) != removed_.end();
}

template <class Memory>
void Membership<Memory>::expel(Slot slot) {
  if (stopped_ || view().id == 0) return;
  const std::optional<Rank> rank = view().rank_of(slot);
  if (rank && *rank != rows_.rank()) suspect(*rank);
}

// What this member sees itself: a suspicion, or, as leader, a node that wants to join, a member
// that wants to leave, or one that wishes to be in other groups. A member that is alone and leaves
// waits until it has delivered everything (leave_alone()). Others change their words meanwhile, so
// this member reads them once.
template <class Memory>
typename Membership<Memory>::Wedge Membership<Memory>::reason_to_wedge() {
  if (suspicion_.unsuspected() != view().members.size()) return {WedgeReason::suspicion, {}};
  if (suspicion_.leader() != rows_.rank()) return {};
  const auto leaves = [this](const ViewMember& member) {
    return rows_.life(member.slot, ViewWords::kLeaving) != 0;
  };
  if (view().members.size() > 1 && std::ranges::any_of(view().members, leaves)) {
    return {WedgeReason::leave, {}};
  }
  const std::vector<ViewMember> joiners = this->joiners();
  if (!joiners.empty()) return {WedgeReason::join, joiners.front()};
  return wishes_differ() ? Wedge{WedgeReason::groups, {}} : Wedge{};
}

template <class Memory>
bool Membership<Memory>::others_wedge() const {
  for (const Rank rank : view().ranks()) {
    if (rank != rows_.rank() && !suspicion_.of(rank) && rows_.word(rank, ViewWords::kWedged) != 0)
      return true;
  }
  return false;
}

// J2.
template <class Memory>
void Membership<Memory>::wedge(const Wedge& why) {
  TUTTI_ASSERT(!wedged_, rows_.rank().value, view().id);
  wedged_ = true;
  for (Group& group : groups_) group.subgroup->wedge();
  // This member tells first: others on its host may act on its word at once, and tell of that.
  if (view().id != 0) events_.wedged(why.reason, why.joiner);
  rows_.set(ViewWords::kWedged, 1);
}

// Members tell each other what a cut needs. At agreed, they give each other the records of
// suspected members that some lack (I8).
template <class Memory>
void Membership<Memory>::fill_gaps(Effects& effects) {
  if (view().id == 0) return;
  for (Group& group : groups_) {
    filled_ |= group.subgroup->tell_wedged(suspicion_.all(), effects);
  }
  if (suspicion_.unsuspected() == view().members.size()) return;
  const bool all_wedged = agreement_.all_wedged();
  for (Group& group : groups_) {
    filled_ |= group.subgroup->pass_on(suspicion_.all(), all_wedged, effects);
  }
}

// Once no group awaits anything more of suspected members.
template <class Memory>
void Membership<Memory>::settle() {
  if (!agreement_.all_wedged() || agreement_.is_settled()) return;
  for (const Group& group : groups_) {
    if (!group.subgroup->settled(suspicion_.all())) return;
  }
  TUTTI_ASSERT(wedged_, rows_.rank().value, view().id);
  agreement_.settle();
}

// What is decided ends the view, also at a member that saw no reason to.
template <class Memory>
void Membership<Memory>::decided(const Proposal& proposal) {
  if (!wedged_ && view().id != 0) wedge({});
  events_.decided(proposal);
}

template <class Memory>
void Membership<Memory>::stop(StopReason reason) {
  if (stopped_) return;
  stopped_ = reason;
  events_.stopped(reason);  // first: a sender that finds its ring closed asks why
  for (Group& group : groups_) group.subgroup->halt();
}

// To all nodes in the view or about to be: also to suspected members, which may only be slow and
// should learn what was decided.
template <class Memory>
void Membership<Memory>::publish(Effects& effects) {
  rows_.mark_changed();  // something is posted
  told_.clear();
  for (const ViewMember& member : view().members) {
    if (member.slot != options_.self) told_.push_back(member.slot);
  }
  for (const Slot slot : ready_.indices()) {
    if (ready_[slot] != 0 && !view().rank_of(slot)) told_.push_back(slot);
  }
  if (wishes_.take_changed()) {
    for (const Slot slot : told_) effects.write(slot, wishes_.extent());
  }
  const std::array<Effects::Words, 2> words{{
      {rows_.words().block(view().id), {rows_.own_block(), rows_.words().word_bytes()}},
      {ViewWords::kInstalled.offset,
       {rows_.own_row() + ViewWords::kInstalled, rows_.words().life_bytes()}},
  }};
  effects.push(told_, {}, words);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Membership<NativeMemory>;
#endif

}  // namespace tutti
