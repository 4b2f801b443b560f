#include "membership/agreement.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

// Of the proposal that such a word kAccepted names, which is not 0.
Rank proposer_of(std::uint64_t accepted) { return {static_cast<std::uint32_t>(accepted / 2 - 1)}; }

}  // namespace

template <class Memory>
Agreement<Memory>::Agreement(ViewRows<Memory>& rows, const Suspicion<Memory>& suspicion,
                             const Quorum& quorum, const IndexedBy<Slot, std::uint64_t>& nodes,
                             AgreementQuestions& questions)
    : rows_(rows), suspicion_(suspicion), quorum_(quorum), nodes_(nodes), questions_(questions) {}

template <class Memory>
bool Agreement<Memory>::all_wedged() const {
  for (const Rank rank : view().ranks()) {
    if (rank == rows_.rank() || suspicion_.of(rank)) continue;
    if (word(rank, ViewWords::kWedged) == 0) return false;
  }
  return true;
}

// Says for how many suspected members all groups have what the others sent.
template <class Memory>
void Agreement<Memory>::settle() {
  const std::uint64_t settled = 1 + view().members.size() - suspicion_.unsuspected();
  TUTTI_ASSERT(settled > settled_, settled, settled_, rows_.rank().value, view().id);
  settled_ = settled;
  rows_.set(ViewWords::kSettled, settled_);
}

template <class Memory>
bool Agreement<Memory>::is_settled() const {
  return settled_ >= 1 + view().members.size() - suspicion_.unsuspected();
}

template <class Memory>
void Agreement<Memory>::step(Effects& effects) {
  if (suspicion_.leader() == rows_.rank()) {
    lead(effects);
  } else {
    follow(effects);
  }
}

template <class Memory>
std::optional<Proposal> Agreement<Memory>::proposal_of(Slot slot, std::uint64_t view,
                                                       std::uint64_t accepted) const {
  std::optional<Proposal> out = rows_.proposal_of(slot, view, accepted);
  if (out && !questions_.is_sensible(*out, view)) out.reset();
  return out;
}

// Whether that member has settled for just the members that we suspect. It did not wait for
// messages of members that it suspects, which may include this member. Some of its words may be of
// this push and some of the last one, hence the count.
template <class Memory>
bool Agreement<Memory>::settled_as_we(Rank rank) const {
  const std::uint64_t settled = word(rank, ViewWords::kSettled);
  std::uint64_t many = 0;
  for (const Rank other : view().ranks()) {
    const Slot slot = view().members[other].slot;
    if (!rows_.says_suspected(rank, slot)) continue;
    if (!suspicion_.of(other)) return false;
    ++many;
  }
  return settled == 1 + many && many == view().members.size() - suspicion_.unsuspected();
}

// J3: a member that suspects all ranks below ours has promised to accept no proposal of theirs.
template <class Memory>
bool Agreement<Memory>::all_promised() const {
  for (const Rank rank : view().ranks()) {
    if (suspicion_.of(rank) || rank == rows_.rank()) continue;
    for (Rank lower{}; lower < rows_.rank(); ++lower.value) {
      if (!rows_.says_suspected(rank, view().members[lower].slot)) return false;
    }
    if (word(rank, ViewWords::kWedged) == 0 || !settled_as_we(rank)) return false;
  }
  return settled_ != 0;
}

// J4.
template <class Memory>
void Agreement<Memory>::lead(Effects& effects) {
  if (proposed_) return count_votes();
  if (!all_promised()) return pending_.reset();
  if (!pending_) pending_ = to_propose();
  if (!pending_ || !questions_.is_kept(*pending_, rows_.rank())) return;
  // We accept from lower ranks only until we lead.
  TUTTI_ASSERT(accepted_ / 2 <= rows_.rank().value, accepted_, rows_.rank().value, view().id);
  TUTTI_ASSERT(view().id == 0 || pending_->next.id == view().id + 1, pending_->next.id,
               rows_.rank().value, view().id);
  proposed_ = true;
  accept(*std::exchange(pending_, {}), rows_.rank(), effects);
  count_votes();
}

template <class Memory>
std::optional<Proposal> Agreement<Memory>::to_propose() const {
  Proposal accepted;
  if (!adopt_accepted(accepted)) return questions_.propose();
  if (accepted.next.id == 0) return {};  // another accepted one, which has not landed whole
  return accepted;
}

// The proposal of the highest ballot that any of us accepted. True if there is one; `out` is empty
// if it could not be read.
template <class Memory>
bool Agreement<Memory>::adopt_accepted(Proposal& out) const {
  std::uint64_t highest = 0;
  for (const Rank rank : view().ranks()) {
    if (suspicion_.of(rank)) continue;
    const std::uint64_t accepted =
        rank == rows_.rank() ? accepted_ : word(rank, ViewWords::kAccepted);
    if (accepted / 2 <= highest / 2) continue;
    highest = accepted;
    std::optional<Proposal> read =
        rank == rows_.rank() ? own_ : proposal_of(view().members[rank].slot, view().id, accepted);
    out = read ? std::move(*read) : Proposal{};
  }
  return highest != 0;
}

template <class Memory>
void Agreement<Memory>::follow(Effects& effects) {
  const Rank leader = suspicion_.leader();
  const std::uint64_t said = word(leader, ViewWords::kAccepted);
  const std::uint64_t ballot = leader.value + 1;
  if (said / 2 != ballot || accepted_ / 2 >= ballot) return;
  const std::optional<Proposal> proposal =
      proposal_of(view().members[leader].slot, view().id, said);
  // J7: an incarnation that was here before us may be in it; then it is not for us to accept.
  if (!proposal || (view().id == 0 && !proposal->next.contains(rows_.self()))) return;
  if (questions_.is_kept(*proposal, leader)) accept(*proposal, leader, effects);
}

// L5: the proposal first, where the last one is not, then the word that says so.
template <class Memory>
void Agreement<Memory>::accept(const Proposal& proposal, Rank ballot, Effects& effects) {
  // L4: all members that we do not suspect have wedged in this view, so no member needs our words
  // of the last one.
  if (!std::exchange(cleared_, true)) questions_.clear_next(effects);
  const std::uint64_t which = accepted_ == 0 ? 0 : 1 - accepted_ % 2;
  write_proposal(proposal, view().id, which, effects);
  own_ = proposal;
  accepted_ = 2 * (std::uint64_t{ballot.value} + 1) + which;
  rows_.set(ViewWords::kAccepted, accepted_);
}

// Stores the proposal in our block of that view, as the first or the second of two, and writes it
// to all members of our view and of the next one. No word names it yet (L5).
template <class Memory>
void Agreement<Memory>::write_proposal(const Proposal& proposal, std::uint64_t view,
                                       std::uint64_t which, Effects& effects) {
  const ViewWords& at = rows_.words();
  const std::size_t offset = at.block(view) + at.proposal(which);
  const std::vector<std::uint64_t> words = encode(proposal);
  TUTTI_ASSERT(8 * words.size() <= at.proposal_bytes(), words.size(), rows_.self().slot, view);
  for (std::size_t i = 0; i < words.size(); ++i) {
    rows_.store(rows_.own_row() + offset + 8 * i, words[i]);
  }
  const Extent extent{offset, static_cast<std::uint32_t>(8 * words.size())};
  for (const ViewMember& member : rows_.view().members) {
    if (member.slot != rows_.self().slot) effects.write(member.slot, extent);
  }
  for (const ViewMember& member : proposal.next.members) {
    if (member.slot != rows_.self().slot && !rows_.view().rank_of(member.slot)) {
      effects.write(member.slot, extent);
    }
  }
}

// J5.
template <class Memory>
void Agreement<Memory>::count_votes() {
  voters_.assign(view().members.size(), false);
  voters_[rows_.rank()] = true;
  for (const Rank rank : view().ranks()) {
    if (rank == rows_.rank() || suspicion_.of(rank)) continue;
    if (word(rank, ViewWords::kAccepted) / 2 == rows_.rank().value + 1) voters_[rank] = true;
  }
  if (quorum_.is_decided(voters_, view(), own_->next)) adopt_decision(*own_, rows_.rank());
}

template <class Memory>
void Agreement<Memory>::hear_decision() {
  for (const Rank rank : view().ranks()) {
    if (decision_) return;
    if (rank == rows_.rank()) continue;
    const Slot slot = view().members[rank].slot;
    if (word(rank, ViewWords::kDecided) == 0) continue;
    const std::uint64_t accepted = word(rank, ViewWords::kAccepted);
    if (accepted == 0) continue;
    const std::optional<Proposal> proposal = proposal_of(slot, view().id, accepted);
    if (proposal && word(rank, ViewWords::kAccepted) == accepted) {
      adopt_decision(*proposal, proposer_of(accepted));
    }
  }
}

// Looks in all rows for a decided view that has us in it.
template <class Memory>
void Agreement<Memory>::join_decided() {
  if (decision_) return;
  for (const Slot slot : nodes_.indices()) {
    if (nodes_[slot] == 0 || slot == rows_.self().slot) continue;
    for (const std::uint64_t parity : {0, 1}) {
      const std::byte* block = rows_.row(slot) + rows_.words().block(parity);
      const std::uint64_t epoch = rows_.load(block + ViewWords::kEpoch);  // and again below (L3)
      const std::uint64_t decided = rows_.load(block + ViewWords::kDecided);
      const std::uint64_t accepted = rows_.load(block + ViewWords::kAccepted);
      if (decided == 0 || accepted == 0 || epoch % 2 != parity) continue;
      const std::optional<Proposal> proposal = proposal_of(slot, epoch, accepted);
      if (!proposal || !proposal->next.contains(rows_.self())) continue;
      if (rows_.load(block + ViewWords::kEpoch) != epoch) continue;
      return adopt_decision(*proposal, proposer_of(accepted));
    }
  }
}

template <class Memory>
void Agreement<Memory>::adopt_decision(const Proposal& proposal, Rank ballot) {
  decision_ = proposal;
  decision_ballot_ = ballot;
  questions_.decided(proposal);
}

// L6: what is accepted is published before the word that says it is decided.
template <class Memory>
bool Agreement<Memory>::accept_decision(Effects& effects) {
  if (own_ && *own_ == *decision_) return false;
  accept(*decision_, decision_ballot_, effects);
  return true;
}

template <class Memory>
void Agreement<Memory>::show_joined(const Proposal& decision, Effects& effects) {
  TUTTI_ASSERT(decision.next.id == view().id, decision.next.id, rows_.rank().value, view().id);
  const std::uint64_t before = decision.next.id - 1;
  const ViewWords& at = rows_.words();
  std::byte* const own = rows_.own_row() + at.block(before);
  const auto publish_words = [&] {
    for (const ViewMember& member : decision.next.members) {
      if (member.slot == rows_.self().slot) continue;
      effects.publish(member.slot, at.block(before), {own, at.word_bytes()});
    }
  };
  // The block may be one for creating the group: its words go before it is another view's (L3).
  for (std::size_t offset = 8; offset < at.word_bytes(); offset += 8) rows_.store(own + offset, 0);
  rows_.store(own + ViewWords::kEpoch, before);
  publish_words();
  write_proposal(decision, before, 0, effects);
  rows_.store(own + ViewWords::kAccepted, 2);  // L5: proposal 0; joiners do not use the ballot
  rows_.store(own + ViewWords::kDecided, 1);   // L6
  publish_words();
}

template <class Memory>
void Agreement<Memory>::begin_view() {
  proposed_ = cleared_ = false;
  settled_ = accepted_ = 0;
  pending_.reset();
  own_.reset();
  decision_.reset();
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Agreement<NativeMemory>;
#endif

}  // namespace tutti
