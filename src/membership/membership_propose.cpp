// What a leader proposes: the first view, or the next one.
#include <algorithm>
#include <utility>

#include "membership/membership.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
bool Membership<Memory>::is_sensible(const Proposal& proposal, std::uint64_t follows) const {
  const View& next = proposal.next;
  if (proposal.cuts.size() != groups_.size()) return false;
  if (!tutti::is_sensible(spaces_, next.groups, static_cast<std::uint32_t>(options_.nodes.size())))
    return false;
  for (const Rank rank : next.ranks()) {
    if (next.members[rank].slot.value >= options_.nodes.size()) return false;
    if (next.rank_of(next.members[rank].slot) != rank) return false;
  }
  for (const ViewMember& member : proposal.left) {
    if (member.slot.value >= options_.nodes.size()) return false;
  }
  if (follows == 0 && !is_sensible_first(proposal)) return false;
  if (view().id != follows) return true;
  if (takes_from_us(next)) return false;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (!groups_[g].subgroup->is_sensible(proposal.cuts[g])) return false;
  }
  return true;
}

// Founders bring no state, so no member takes one from them. What nodes agreed on before they found
// its view stays so.
template <class Memory>
bool Membership<Memory>::is_sensible_first(const Proposal& proposal) const {
  const View& next = proposal.next;
  if (next.id != first_view() || next.survivors != 0) return false;
  if (!next.groups.empty()) return false;
  if (!options_.restarts) return true;
  if (!std::ranges::equal(next.members, options_.restarts->members, {}, &ViewMember::slot)) {
    return false;
  }
  return std::ranges::equal(proposal.cuts, options_.restarts->firsts, {}, &Cut::next_seq);
}

template <class Memory>
std::optional<Proposal> Membership<Memory>::propose() {
  return view().id == 0 ? first_proposal() : next_proposal();
}

// All nodes that we do not suspect, once they are connected to each other. Nothing was sent in view
// 0, so there is nothing to cut.
template <class Memory>
std::optional<Proposal> Membership<Memory>::first_proposal() {
  Proposal proposal;
  proposal.next.id = first_view();
  for (const Rank rank : view().ranks()) {
    if (suspicion_.of(rank)) continue;
    const Slot slot = view().members[rank].slot;
    const bool own = slot == options_.self;
    if (!own && ready_[slot] == 0) return {};  // this node lost it since
    proposal.next.members.push_back({slot, own ? options_.incarnation : ready_[slot]});
  }
  for (const ViewMember& one : proposal.next.members) {
    for (const ViewMember& other : proposal.next.members) {
      if (one == other) continue;
      if (rows_.life(one.slot, ViewWords::ready(other.slot)) != other.incarnation) return {};
    }
  }
  const std::size_t here = proposal.next.members.size();
  const bool enough = options_.restarts
                          ? here == view().members.size()
                          : quorum().may_create(here, ready_.size(), options_.founders);
  if (!enough) {
    stop(StopReason::minority);
    return {};
  }
  proposal.cuts.resize(groups_.size());
  if (options_.restarts) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      proposal.cuts[g].next_seq = options_.restarts->firsts[g];
    }
  }
  return proposal;
}

// The nodes that are connected to all members, and to each other, by the word of both sides: a
// joiner that does not know a member yet would suspect it. A node that was removed, as far as we
// know, or says that it was in a view, is no joiner (M6): a member that left may still be connected
// to a member that joined just then.
template <class Memory>
std::vector<ViewMember> Membership<Memory>::joiners() const {
  std::vector<ViewMember> out;
  for (const Slot slot : ready_.indices()) {
    const std::uint64_t incarnation = ready_[slot];
    if (incarnation == 0 || view().rank_of(slot)) continue;
    bool all = !was_removed(incarnation);
    for (const Rank rank : view().ranks()) {
      if (!all) break;
      if (suspicion_.of(rank)) continue;
      const ViewMember& member = view().members[rank];
      all =
          rows_.life(slot, ViewWords::ready(member.slot)) == member.incarnation &&
          (rank == rows_.rank() || rows_.life(member.slot, ViewWords::ready(slot)) == incarnation);
    }
    for (const ViewMember& other : out) {
      all = all && rows_.life(slot, ViewWords::ready(other.slot)) == other.incarnation &&
            rows_.life(other.slot, ViewWords::ready(slot)) == incarnation;
    }
    // Last: a node that was in a view when it came said so before whom it is connected to
    // (greet()).
    if (all && rows_.life(slot, ViewWords::kInstalled) == 0) out.push_back({slot, incarnation});
  }
  return out;
}

template <class Memory>
std::optional<Proposal> Membership<Memory>::next_proposal() {
  Proposal proposal;
  proposal.next.id = view().id + 1;
  IndexedBy<Rank, bool> goes_on(view().members.size());
  std::vector<ViewMember> leavers;
  for (const Rank rank : view().ranks()) {
    goes_on[rank] = !suspicion_.of(rank);
    const ViewMember& member = view().members[rank];
    const bool leaves = goes_on[rank] && rows_.life(member.slot, ViewWords::kLeaving) != 0;
    if (leaves) leavers.push_back(member);
  }
  // J6, for the members that stay. A leaver that they need to go on leaves a view later.
  const std::size_t all = view().members.size();
  leavers.resize(quorum().may_leave(leavers.size(), suspicion_.unsuspected(), all));
  proposal.in_order = static_cast<std::uint32_t>(leavers.size());
  proposal.left = std::move(leavers);
  for (const Rank rank : view().ranks()) {
    const ViewMember& member = view().members[rank];
    if (!goes_on[rank]) {
      proposal.left.push_back(member);
    } else if (!proposal.leaves_in_order(member)) {
      proposal.next.members.push_back(member);
    }
  }
  std::vector<Slot> stay;
  for (const ViewMember& member : proposal.next.members) stay.push_back(member.slot);
  // GR5: after the members' words that say that they have wedged.
  if (!spaces_.all.empty()) {
    wishes_.look();
    if (!wishes_.has_read(stay)) return {};
  }
  proposal.next.groups = groups_of(stay);
  proposal.next.survivors = static_cast<std::uint32_t>(proposal.next.members.size());
  for (const ViewMember& joiner : joiners()) proposal.next.members.push_back(joiner);
  for (const Group& group : groups_) {
    std::optional<Cut> cut = group.subgroup->find_cut(goes_on);
    if (!cut) return {};
    proposal.cuts.push_back(std::move(*cut));
  }
  return proposal;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Membership<NativeMemory>;
#endif

}  // namespace tutti
