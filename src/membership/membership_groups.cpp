// Groups that members join and leave while they run (open_groups.hpp).
//
// GR4  A member leaves a group once every member of the view has delivered all that it sent there,
//      and its application is handed nothing more of it. So nobody reads its ring any more when it
//      joins another group in that space, and begins anew in the ring. This member's subgroup there
//      is a new one whenever it comes into a group or out of one: what is left of the old one says
//      nothing of the new one.
// GR5  As long as a member wishes to be in a group, it stays in it once it is. A leader reads the
//      wishes after the words by which the members have wedged in this view: a wish that a view was
//      made of was posted before these, on the same way. It waits for a list that is being written
//      over. A member accepts nothing else, which only a corrupt leader proposes.
#include <algorithm>

#include "base/assert.hpp"
#include "membership/membership.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

// Nobody reads it, and nothing comes into it any more.
bool is_released(const SendRing& ring) {
  return ring.closed_and_empty() && ring.released() == ring.taken();
}

}  // namespace

template <class Memory>
typename Membership<Memory>::Wished Membership<Memory>::wish(const GroupWish& wish) {
  const OpenGroup* const open = find_name(view().groups, wish.name);
  if (wishes_.has(wish.name) || (open != nullptr && open->has(options_.self)))
    return Wished::already;
  if (wishes_.is_full()) return Wished::too_many;
  wishes_.add(wish);
  return Wished::yes;
}

template <class Memory>
bool Membership<Memory>::withdraw(std::string_view name) {
  if (!wishes_.has(name)) return true;
  const OpenGroup* const open = find_name(view().groups, name);
  if (open != nullptr && open->has(options_.self) && wishes_.has(*open)) {
    Subgroup<Memory>& subgroup = *groups_[open->group].subgroup;
    // From mute() to the next view this member holds the others' space: it is not asked before.
    if (!is_released(*subgroup.ring())) return false;
    subgroup.mute();
    if (!subgroup.at_rest()) return false;
  }
  wishes_.remove(name);
  return true;
}

template <class Memory>
OpenGroups Membership<Memory>::groups_of(const std::vector<Slot>& stay) const {
  if (spaces_.all.empty()) return {};
  return next_groups(spaces_, view().groups, view().id + 1, stay, wishes_.all());
}

template <class Memory>
bool Membership<Memory>::wishes_differ() {
  if (spaces_.all.empty()) return false;
  if (met_.view == view().id && met_.wishes == wishes_.version()) return false;
  std::vector<Slot> stay;
  for (const ViewMember& member : view().members) stay.push_back(member.slot);
  if (groups_of(stay) != view().groups) return true;
  met_ = {view().id, wishes_.version()};
  return false;
}

// GR5.
template <class Memory>
bool Membership<Memory>::takes_from_us(const View& next) const {
  if (!next.contains(rows_.self())) return false;
  return std::ranges::any_of(view().groups, [&](const OpenGroup& was) {
    if (!was.has(options_.self) || !wishes_.has(was)) return false;
    const OpenGroup* const is = find_space(next.groups, was.group);
    return is == nullptr || is->name != was.name || !is->has(options_.self);
  });
}

// GR4: it is still in the group in this view, and has nothing more to deliver there.
template <class Memory>
bool Membership<Memory>::has_parted(const Group& group) const {
  if (!group.seat.space()) return false;
  const OpenGroup* const open = find_space(view().groups, *group.seat.space());
  const bool is_in = open != nullptr && open->has(options_.self);
  return is_in && !wishes_.has(*open) && group.subgroup->at_rest();
}

// GR4. True if the group has a new subgroup.
template <class Memory>
bool Membership<Memory>::renew(std::size_t group, const View& before, const View& next) {
  const std::optional<std::uint32_t> space = groups_[group].seat.space();
  if (!space) return false;
  const auto own_in = [&](const View& view) -> const OpenGroup* {
    const OpenGroup* const open = find_space(view.groups, *space);
    return open != nullptr && open->has(options_.self) ? open : nullptr;
  };
  const OpenGroup* const was = own_in(before);
  const OpenGroup* const is = own_in(next);
  if ((was == nullptr) == (is == nullptr)) return false;
  Subgroup<Memory>& old = *groups_[group].subgroup;
  const SendRing* const ring = old.ring();
  TUTTI_ASSERT((was == nullptr) == (ring == nullptr), group, next.id, options_.self);
  TUTTI_ASSERT(ring == nullptr || is_released(*ring), group, next.id, options_.self);  // GR4
  old.halt();
  View nobody;
  nobody.groups = next.groups;
  groups_[group].subgroup = renew_(group, is, groups_[group].seat.in(nobody, rows_.row_of()));
  // A leader may have acted on a wish that this member has taken back since, or that it has for a
  // group of that name and another kind by now.
  if (is != nullptr && !wishes_.has(*is)) groups_[group].subgroup->mute();
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Membership<NativeMemory>;
#endif

}  // namespace tutti
