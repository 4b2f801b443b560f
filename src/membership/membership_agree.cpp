// How the members agree on what comes next: propose, accept, decide, install.
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "membership/membership.hpp"
#include "sst/memory.hpp"

namespace tutti {

// Whether it has settled for just those whom we suspect: what it lacks of others that it suspects,
// us perhaps, it did not wait for. Its words may be some of this push, some of the last, hence the
// count.
template <class Memory>
bool Membership<Memory>::settled_as_we(std::uint32_t rank) const {
  const std::uint64_t settled = word(rank, ViewWords::kSettled);
  std::uint64_t many = 0;
  for (std::uint32_t other = 0; other < view_.members.size(); ++other) {
    const std::uint32_t slot = view_.members[other].slot;
    if (!says_suspected(rank, slot)) continue;
    if (!suspected_[other]) return false;
    ++many;
  }
  return settled == 1 + many && many == view_.members.size() - unsuspected();
}

// J3: who suspects all below us has promised us to accept nothing of theirs.
template <class Memory>
bool Membership<Memory>::all_promised() const {
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    if (suspected_[rank] || rank == rank_) continue;
    for (std::uint32_t lower = 0; lower < rank_; ++lower) {
      if (!says_suspected(rank, view_.members[lower].slot)) return false;
    }
    if (word(rank, ViewWords::kWedged) == 0 || !settled_as_we(rank)) return false;
  }
  return settled_ != 0;
}

// J4.
template <class Memory>
void Membership<Memory>::lead(Effects& effects) {
  if (proposed_) return count_votes();
  if (!all_promised()) return;
  std::optional<Proposal> proposal;
  if (Proposal accepted; adopt_accepted(accepted)) {
    if (accepted.next.id == 0) return;  // it is there, but not whole yet
    proposal = std::move(accepted);
  } else {
    proposal = view_.id == 0 ? first_proposal() : next_proposal();
  }
  if (!proposal) return;
  proposed_ = true;
  accept(*proposal, rank_, effects);
  count_votes();
}

// The proposal of the highest ballot that any of us accepted. True if there is one; `out` is empty
// if it could not be read.
template <class Memory>
bool Membership<Memory>::adopt_accepted(Proposal& out) const {
  std::uint64_t highest = 0;
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    if (suspected_[rank]) continue;
    const std::uint64_t accepted = rank == rank_ ? accepted_ : word(rank, ViewWords::kAccepted);
    if (accepted / 2 <= highest / 2) continue;
    highest = accepted;
    std::optional<Proposal> read =
        rank == rank_ ? own_ : proposal_of(view_.members[rank].slot, view_.id, accepted);
    out = read ? std::move(*read) : Proposal{};
  }
  return highest != 0;
}

// Those that are connected to all of us, and to each other, by the word of both sides: a joiner
// that does not know a member yet would take it for lost.
template <class Memory>
std::vector<ViewMember> Membership<Memory>::joiners() const {
  std::vector<ViewMember> out;
  for (std::uint32_t slot = 0; slot < ready_.size(); ++slot) {
    const std::uint64_t incarnation = ready_[slot];
    if (incarnation == 0 || view_.rank_of(slot)) continue;
    bool all = true;
    for (std::uint32_t rank = 0; rank < view_.members.size() && all; ++rank) {
      if (suspected_[rank]) continue;
      const ViewMember& member = view_.members[rank];
      all = life(slot, ViewWords::ready(member.slot)) == member.incarnation &&
            (rank == rank_ || life(member.slot, ViewWords::ready(slot)) == incarnation);
    }
    for (const ViewMember& other : out) {
      all = all && life(slot, ViewWords::ready(other.slot)) == other.incarnation &&
            life(other.slot, ViewWords::ready(slot)) == incarnation;
    }
    if (all) out.push_back({slot, incarnation});
  }
  return out;
}

template <class Memory>
std::optional<Proposal> Membership<Memory>::next_proposal() const {
  Proposal proposal;
  proposal.next.id = view_.id + 1;
  std::vector<bool> goes_on(view_.members.size());
  std::vector<ViewMember> leavers;
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    goes_on[rank] = !suspected_[rank];
    const ViewMember& member = view_.members[rank];
    if (goes_on[rank] && life(member.slot, ViewWords::kLeaving) != 0) leavers.push_back(member);
  }
  // J6, for those who stay: a majority of the view without those who leave in order (M4). A leaver
  // that must stay for that leaves a view later.
  const std::size_t all = view_.members.size();
  while (!leavers.empty() && 2 * (unsuspected() - leavers.size()) <= all - leavers.size()) {
    leavers.pop_back();
  }
  proposal.in_order = static_cast<std::uint32_t>(leavers.size());
  proposal.left = std::move(leavers);
  for (std::uint32_t rank = 0; rank < all; ++rank) {
    const ViewMember& member = view_.members[rank];
    if (!goes_on[rank]) {
      proposal.left.push_back(member);
    } else if (!proposal.leaves_in_order(member)) {
      proposal.next.members.push_back(member);
    }
  }
  proposal.next.survivors = static_cast<std::uint32_t>(proposal.next.members.size());
  for (const ViewMember& joiner : joiners()) proposal.next.members.push_back(joiner);
  for (const Group& group : groups_) {
    std::optional<Cut> cut = group.subgroup->find_cut(goes_on);
    if (!cut) return {};
    proposal.cuts.push_back(std::move(*cut));
  }
  return proposal;
}

template <class Memory>
void Membership<Memory>::follow(Effects& effects) {
  const std::uint32_t leader = this->leader();
  const std::uint64_t said = word(leader, ViewWords::kAccepted);
  if (said / 2 != leader + 1 || accepted_ / 2 >= leader + 1) return;
  const std::optional<Proposal> proposal = proposal_of(view_.members[leader].slot, view_.id, said);
  const ViewMember self{options_.self, options_.incarnation};
  // J7: an incarnation that was here before us may be in it; then it is not for us to accept.
  if (proposal && (view_.id != 0 || proposal->next.contains(self))) {
    accept(*proposal, leader, effects);
  }
}

// L5: the proposal first, where the last one is not, then the word that says so.
template <class Memory>
void Membership<Memory>::accept(const Proposal& proposal, std::uint32_t ballot, Effects& effects) {
  // L4: all whom we do not suspect have wedged in this view: nobody needs our words of the last.
  if (!std::exchange(cleared_, true)) clear_blocks(view_.id + 1, view_.members, effects);
  const std::uint64_t which = accepted_ == 0 ? 0 : 1 - accepted_ % 2;
  const std::size_t offset = words_.block(view_.id) + words_.proposal(which);
  const std::vector<std::uint64_t> words = encode(proposal);
  TUTTI_ASSERT(8 * words.size() <= words_.proposal_bytes(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) store_cell(own_row_ + offset + 8 * i, words[i]);
  const Extent extent{offset, static_cast<std::uint32_t>(8 * words.size())};
  for (const ViewMember& member : view_.members) {
    if (member.slot != options_.self) effects.write(Rank{member.slot}, extent);
  }
  for (const ViewMember& member : proposal.next.members) {
    if (member.slot != options_.self && !view_.rank_of(member.slot)) {
      effects.write(Rank{member.slot}, extent);
    }
  }
  own_ = proposal;
  accepted_ = 2 * (std::uint64_t{ballot} + 1) + which;
  set(ViewWords::kAccepted, accepted_);
}

// J5.
template <class Memory>
void Membership<Memory>::count_votes() {
  std::size_t votes = 1;
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    if (rank == rank_ || suspected_[rank]) continue;
    if (word(rank, ViewWords::kAccepted) / 2 == rank_ + 1) ++votes;
  }
  if (2 * votes > view_.members.size()) adopt_decision(*own_, rank_);
}

template <class Memory>
void Membership<Memory>::hear_decision() {
  for (std::uint32_t rank = 0; rank < view_.members.size() && !decision_; ++rank) {
    if (rank == rank_) continue;
    const std::uint32_t slot = view_.members[rank].slot;
    if (word(rank, ViewWords::kDecided) == 0) continue;
    const std::uint64_t accepted = word(rank, ViewWords::kAccepted);
    if (accepted == 0) continue;
    const std::optional<Proposal> proposal = proposal_of(slot, view_.id, accepted);
    if (proposal && word(rank, ViewWords::kAccepted) == accepted) {
      adopt_decision(*proposal, static_cast<std::uint32_t>(accepted / 2 - 1));
    }
  }
  // One that wants to leave was let go, then, or suspected: that makes no difference to it any
  // more. But one that is needed and has not asked was suspected.
  if (!decision_ && is_left_behind()) {
    const bool asked = life(options_.self, ViewWords::kLeaving) != 0;
    const bool goes = asked || (leaves_ && !events_.is_needed());
    stop(goes ? StopReason::left : StopReason::evicted);
  }
}

// Others have left the view that comes after ours: that needed all who are in it and not suspected.
template <class Memory>
bool Membership<Memory>::is_left_behind() const {
  return std::ranges::any_of(view_.members, [this](const ViewMember& member) {
    return member.slot != options_.self && life(member.slot, ViewWords::kInstalled) >= view_.id + 2;
  });
}

// Looks in all rows for a decided view that has us in it.
template <class Memory>
void Membership<Memory>::join_decided() {
  const ViewMember self{options_.self, options_.incarnation};
  for (std::uint32_t slot = 0; slot < ready_.size(); ++slot) {
    if (ready_[slot] == 0 || slot == options_.self) continue;
    for (const std::uint64_t parity : {0, 1}) {
      const std::byte* block = row(slot) + words_.block(parity);
      const std::uint64_t view = memory_.load(block + ViewWords::kEpoch);  // and again below (L3)
      const std::uint64_t decided = memory_.load(block + ViewWords::kDecided);
      const std::uint64_t accepted = memory_.load(block + ViewWords::kAccepted);
      if (decided == 0 || accepted == 0 || view % 2 != parity) continue;
      const std::optional<Proposal> proposal = proposal_of(slot, view, accepted);
      if (!proposal || !proposal->next.contains(self)) continue;
      if (memory_.load(block + ViewWords::kEpoch) != view) continue;
      decision_ = *proposal;
      decision_ballot_ = static_cast<std::uint32_t>(accepted / 2 - 1);
      events_.decided(*decision_);
      return;
    }
  }
}

template <class Memory>
void Membership<Memory>::adopt_decision(const Proposal& proposal, std::uint32_t ballot) {
  if (!wedged_) wedge({});
  decision_ = proposal;
  decision_ballot_ = ballot;
  events_.decided(proposal);
}

// Shows the decision, lets delivery go up to the cut, and enters the next view. The application may
// be behind; only one that leaves waits until everything is delivered. True once it has entered.
template <class Memory>
bool Membership<Memory>::apply_decision(Effects& effects) {
  const ViewMember self{options_.self, options_.incarnation};
  if (view_.id + 1 == decision_->next.id) {  // else we join
    if (!decision_shown_) {
      if (!own_ || *own_ != *decision_) {
        accept(*decision_, decision_ballot_, effects);
        publish(effects);  // L6
      }
      set(ViewWords::kDecided, 1);
      publish(effects);
      if (!decision_->next.contains(self) && !decision_->leaves_in_order(self)) {
        stop(StopReason::evicted);
        return false;
      }
      decision_shown_ = true;
    }
    const bool goes_on = decision_->next.contains(self);
    bool all = true;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      Subgroup<Memory>& subgroup = *groups_[g].subgroup;
      const bool ended = subgroup.end(decision_->cuts[g]);
      if (subgroup.stale()) {
        // The members of the next view may be a view further by now. What was let go in order has
        // left then, without the last of what the others sent (J8).
        stop(goes_on ? StopReason::evicted : StopReason::left);
        return false;
      }
      // A member that leaves before it got the state it joined for has nothing to deliver.
      all &= goes_on ? ended : subgroup.lacks_state() || (ended && subgroup.delivered_all());
    }
    if (!all) return false;
    if (!goes_on) {
      stop(StopReason::left);
      return false;
    }
  }
  enter(View(decision_->next), effects);
  return true;
}

template <class Memory>
void Membership<Memory>::clear_blocks(std::uint64_t id, const std::vector<ViewMember>& members,
                                      Effects& effects) {
  std::byte* block = own_row_ + words_.block(id);
  store_cell(block + ViewWords::kEpoch, 0);
  for (std::size_t offset = 8; offset < words_.word_bytes(); offset += 8) {
    store_cell(block + offset, 0);
  }
  for (const Group& group : groups_) group.seat.clear_block(id);
  const auto to = [&](std::uint32_t slot) {
    if (slot == options_.self) return;
    effects.publish(Rank{slot}, words_.block(id), {block, words_.word_bytes()});
    for (const Group& group : groups_) {
      const GroupSeat::Block words = group.seat.block(id);
      effects.publish(Rank{slot}, words.offset, {own_row_ + words.offset, words.bytes});
    }
  };
  for (const ViewMember& member : members) to(member.slot);
  const auto listed = [&](std::uint32_t slot) {
    return std::ranges::find(members, slot, &ViewMember::slot) != members.end();
  };
  for (std::uint32_t slot = 0; slot < ready_.size(); ++slot) {
    if (ready_[slot] != 0 && !listed(slot)) to(slot);
  }
}

template <class Memory>
void Membership<Memory>::enter(const View& next, Effects& effects) {
  const View before = view_.id == 0 ? View{} : view_;
  std::vector<ViewMember> suspects;
  for (std::size_t rank = 0; rank < before.members.size(); ++rank) {
    if (suspected_[rank]) suspects.push_back(before.members[rank]);
  }
  // A new member was connected to us when it was chosen; if it is no more, it was lost since.
  for (const ViewMember& member : next.members) {
    const bool known = before.contains(member) || member.slot == options_.self;
    if (!known && ready_[member.slot] != member.incarnation) suspects.push_back(member);
  }
  for (const ViewMember& member : before.members) {
    if (next.contains(member)) continue;
    if (decision_ && decision_->leaves_in_order(member)) {
      leavers_.push_back({member, now_ns_ + options_.suspect_after_ns});
    } else {
      events_.removed(member);
    }
  }
  view_ = next;
  // A joiner may have taken part in founding, in a block that is now this view's.
  if (before.id == 0 && next.id != kFirstView) clear_blocks(next.id, next.members, effects);
  for (const ViewMember& member : decision_ ? decision_->left : std::vector<ViewMember>{}) {
    if (removed_.size() == kRemovedKept) removed_.pop_front();
    removed_.push_back(member.incarnation);
  }
  rank_ = *next.rank_of(options_.self);
  suspected_.assign(next.members.size(), false);
  wedged_ = proposed_ = cleared_ = decision_shown_ = false;
  alone_since_ns_.reset();
  settled_ = accepted_ = 0;
  own_.reset();
  decision_.reset();

  for (Group& group : groups_) {
    auto [shape, place] = group.seat.in(next, row_of_);
    const bool joins = before.id == 0 && next.id != kFirstView;
    shape.first_seq = joins ? kUnknownSeq : before.id == 0 ? 0 : group.subgroup->next_seq();
    shape.own_base_records = joins || before.id == 0 ? 0 : group.subgroup->own_records_before();
    const std::vector<Rank> peers = place.peers;
    const std::uint32_t base = group.subgroup->enter(shape, std::move(place));
    group.subgroup->hold_space(!leavers_.empty());
    group.seat.prepare_block(next.id, base, shape.first_seq);
    const GroupSeat::Block block = group.seat.block(next.id);
    const auto publish_block = [&] {
      for (const Rank peer : peers) {
        effects.publish(peer, block.offset, {own_row_ + block.offset, block.bytes});
      }
    };
    publish_block();
    group.seat.open_block(next.id);
    publish_block();
  }
  for (const ViewMember& member : next.members) {
    if (ready_[member.slot] == member.incarnation) ready_[member.slot] = 0;
  }
  for (const ViewMember& member : next.members) {
    if (!before.contains(member)) detector_.watch(member.slot);
  }
  set(ViewWords::kEpoch, next.id);
  set_life(ViewWords::kInstalled, next.id);
  events_.installed(next, before);
  for (const ViewMember& member : suspects) {
    if (next.contains(member)) suspect(*next.rank_of(member.slot));
  }
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Membership<NativeMemory>;
#endif

}  // namespace tutti
