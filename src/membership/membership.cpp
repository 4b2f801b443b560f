// How a node watches the others and comes to wedge: time, losses, suspicion, its own words.
#include "membership/membership.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
Membership<Memory>::Membership(MembershipOptions options, const ViewWords& words,
                               std::vector<Group> groups, std::byte* own_row, RowOf row_of,
                               MembershipEvents& events, Memory memory)
    : options_(std::move(options)),
      words_(words),
      groups_(std::move(groups)),
      own_row_(own_row),
      row_of_(std::move(row_of)),
      events_(events),
      memory_(memory),
      rank_(options_.self),
      suspected_(options_.nodes.size()),
      said_(words_.suspected_words()),
      ready_(options_.nodes.size()),
      detector_(static_cast<std::uint32_t>(options_.nodes.size()), options_.suspect_after_ns) {
  told_.reserve(options_.nodes.size());
  for (std::uint32_t slot = 0; slot < options_.nodes.size(); ++slot) {
    view_.members.push_back({slot, slot == options_.self ? options_.incarnation : 0});
  }
}

template <class Memory>
const std::byte* Membership<Memory>::row(std::uint32_t slot) const {
  return slot == options_.self ? own_row_ : row_of_(slot);
}

template <class Memory>
std::uint64_t Membership<Memory>::word(std::uint32_t rank, std::size_t offset) const {
  const std::uint32_t slot = view_.members[rank].slot;
  const std::byte* block = row(slot) + words_.block(view_.id);
  if (memory_.load(block + ViewWords::kEpoch) != view_.id) return 0;
  const std::uint64_t value = memory_.load(block + offset);
  if (value == 0 || memory_.load(block + ViewWords::kEpoch) != view_.id) return 0;
  // A block that is new to us, or cleared, has no epoch either.
  return view_.id == 0 && life(slot, ViewWords::kInstalled) != 0 ? 0 : value;
}

template <class Memory>
std::optional<Proposal> Membership<Memory>::proposal_of(std::uint32_t slot, std::uint64_t view,
                                                        std::uint64_t accepted) const {
  const std::byte* from = row(slot) + words_.block(view) + words_.proposal(accepted % 2);
  const std::size_t most = words_.proposal_bytes() / 8;
  std::vector<std::uint64_t> words;
  std::size_t count = 2;
  for (std::size_t i = 0; i < count; ++i) {
    words.push_back(memory_.load(from + 8 * i));
    if (i == 1) count = std::clamp<std::size_t>(words[1], 2, most);
  }
  std::optional<Proposal> out = decode(words);
  if (out && (out->next.id != view + 1 || !sensible(*out))) out.reset();
  return out;
}

// Words of another member are input: nothing in a proposal may name what is not there.
template <class Memory>
bool Membership<Memory>::sensible(const Proposal& proposal) const {
  const std::vector<ViewMember>& members = proposal.next.members;
  if (proposal.cuts.size() != groups_.size() || proposal.next.survivors > members.size() ||
      proposal.in_order > proposal.left.size()) {
    return false;
  }
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    if (members[rank].slot >= options_.nodes.size()) return false;
    if (proposal.next.rank_of(members[rank].slot) != rank) return false;
  }
  if (view_.id + 1 != proposal.next.id) return true;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (proposal.cuts[g].received.size() != groups_[g].subgroup->shape().senders()) return false;
  }
  return true;
}

template <class Memory>
bool Membership<Memory>::says_suspected(std::uint32_t rank, std::uint32_t slot) const {
  return (word(rank, ViewWords::kSuspected + 8 * (slot / 64)) >> slot % 64 & 1) != 0;
}

template <class Memory>
void Membership<Memory>::say_suspected(std::uint32_t slot) {
  const std::size_t offset = ViewWords::kSuspected + 8 * (slot / 64);
  set(offset, NativeMemory::load(own_block() + offset) | 1ULL << slot % 64);
}

template <class Memory>
void Membership<Memory>::set(std::size_t offset, std::uint64_t value) {
  store_cell(own_block() + offset, value);
  dirty_ = true;
}

template <class Memory>
void Membership<Memory>::set_life(std::size_t offset, std::uint64_t value) {
  store_cell(own_row_ + offset, value);
  dirty_ = true;
}

template <class Memory>
bool Membership<Memory>::step(Effects& effects) {
  if (stopped_) return false;
  if (now_ns_ < next_look_ns_ && !dirty_ && !wedged_) return false;
  next_look_ns_ = now_ns_ + options_.look_every_ns;
  if (!leavers_.empty()) see_off({});
  if (leaves_) [[unlikely]]
    ask_to_leave();
  const bool was_changing = wedged_;
  const std::uint64_t view = view_.id;
  const bool beats = beat();
  if (!greeted_.empty()) greet(effects);
  if (view_.id == 0) {
    begin(effects);
  } else {
    hear_decision();
    leave_alone();
    if (!stopped_ && !decision_) follow_course(effects);
  }
  if (stopped_) return true;
  if (dirty_) {
    publish(effects);
  } else if (beats) {
    publish(effects);
    effects.flush();
    dirty_ = false;  // a heartbeat alone is no work: nobody answers it
  }
  if (decision_) {
    if (apply_decision(effects)) {
      publish(effects);
    } else if (!stopped_) {
      await_cut();
    }
  }
  return std::exchange(dirty_, false) || was_changing != wedged_ || view != view_.id;
}

// A member that still lacks what comes before the cut must find out if nobody will give it that.
// One that is taken for dead may still see the others live, in rows that they share.
template <class Memory>
void Membership<Memory>::await_cut() {
  watch_heartbeats();
  const ViewMember self{options_.self, options_.incarnation};
  if (decision_->next.contains(self) && is_left_behind()) stop(StopReason::evicted);
}

template <class Memory>
void Membership<Memory>::follow_course(Effects& effects) {
  watch_heartbeats();
  hear_suspicions();
  if (stopped_ || decision_) return;
  if (!wedged_) {
    const Wedge why = reason_to_wedge();
    if (why.reason != WedgeReason::told || others_wedge()) wedge(why);
  }
  if (!wedged_) return;
  give_up_alone();
  if (stopped_) return;
  settle();
  if (leader() == rank_) {
    if (leaves_) ask_to_leave();  // it may lead since this step
    lead(effects);
  } else {
    follow(effects);
  }
}

template <class Memory>
bool Membership<Memory>::beat() {
  if (now_ns_ < next_beat_ns_) return false;
  next_beat_ns_ = now_ns_ + options_.heartbeat_ns;
  store_cell(own_row_ + ViewWords::kHeartbeat, ++heartbeat_);
  return true;
}

template <class Memory>
void Membership<Memory>::watch_heartbeats() {
  detector_.look(now_ns_);
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    if (rank == rank_ || suspected_[rank]) continue;
    const std::uint32_t slot = view_.members[rank].slot;
    detector_.heard(slot, life(slot, ViewWords::kHeartbeat));
    if (detector_.silent(slot)) suspect(rank);
  }
}

// J1. In rank order: of two that suspect each other, all who hear both at once believe the lower.
template <class Memory>
void Membership<Memory>::hear_suspicions() {
  for (std::uint32_t rank = 0; rank < view_.members.size() && !stopped_; ++rank) {
    if (rank != rank_ && !suspected_[rank]) hear_suspicions_of(rank);
  }
}

template <class Memory>
void Membership<Memory>::hear_suspicions_of(std::uint32_t rank) {
  std::size_t many = 0;
  for (std::size_t i = 0; i < said_.size(); ++i) {
    said_[i] = word(rank, ViewWords::kSuspected + 8 * i);
    many += static_cast<std::size_t>(std::popcount(said_[i]));
  }
  if (many == 0 || 2 * many >= view_.members.size()) return;
  for (std::uint32_t other = 0; other < view_.members.size(); ++other) {
    const std::uint32_t slot = view_.members[other].slot;
    const bool says = (said_[slot / 64] >> slot % 64 & 1) != 0;
    if (says && other != rank_) suspect(other);
  }
}

template <class Memory>
void Membership<Memory>::suspect(std::uint32_t rank) {
  if (suspected_[rank] || stopped_) return;
  suspected_[rank] = true;
  const std::uint32_t slot = view_.members[rank].slot;
  say_suspected(slot);
  if (view_.id != 0) events_.suspected(view_.members[rank]);
  if (2 * unsuspected() > view_.members.size()) return;
  // What was decided with a majority stands: whether there still is one, the next view will tell.
  if (view_.id != 0 && !decision_) hear_decision();
  if (!decision_) stop(StopReason::minority);  // J6
}

// J8: those of whom nothing more is awaited, because they are lost or their time is over.
template <class Memory>
void Membership<Memory>::see_off(std::optional<std::uint32_t> lost) {
  const auto [gone, end] = std::ranges::stable_partition(leavers_, [&](const Leaver& leaver) {
    return lost != leaver.member.slot && now_ns_ < leaver.until_ns;
  });
  for (auto leaver = gone; leaver != end; ++leaver) events_.removed(leaver->member);
  leavers_.erase(gone, end);
  if (!leavers_.empty()) return;
  for (Group& group : groups_) group.subgroup->hold_space(false);
}

template <class Memory>
void Membership<Memory>::lost(std::uint32_t slot) {
  if (stopped_) return;
  if (!leavers_.empty()) see_off(slot);
  ready(slot, 0);
  // J7: before it is time to found, it may come again; and who joins awaits what others decide.
  if (view_.id == 0 && (!wedged_ || group_exists())) return;
  const std::optional<std::uint32_t> rank = view_.rank_of(slot);
  if (rank && *rank != rank_) suspect(*rank);
}

template <class Memory>
void Membership<Memory>::ready(std::uint32_t slot, std::uint64_t incarnation) {
  ready_[slot] = incarnation;
  set_life(ViewWords::ready(slot), incarnation);
  if (incarnation == 0 || stopped_) return;
  greeted_.push_back(slot);
  last_came_ns_ = now_ns_;
  detector_.watch(slot);
}

template <class Memory>
bool Membership<Memory>::was_removed(std::uint64_t incarnation) const {
  return std::ranges::find(removed_, incarnation) != removed_.end();
}

template <class Memory>
void Membership<Memory>::expel(std::uint32_t slot) {
  if (stopped_ || view_.id == 0) return;
  const std::optional<std::uint32_t> rank = view_.rank_of(slot);
  if (rank && *rank != rank_) suspect(*rank);
}

template <class Memory>
std::uint32_t Membership<Memory>::leader() const {
  return static_cast<std::uint32_t>(std::ranges::find(suspected_, false) - suspected_.begin());
}

template <class Memory>
std::uint32_t Membership<Memory>::unsuspected() const {
  return static_cast<std::uint32_t>(std::ranges::count(suspected_, false));
}

// What this member sees itself: a suspicion, or, at the leader, somebody who wants in or out. One
// that is alone and leaves waits until it has delivered everything (leave_alone()). Others change
// their words meanwhile, so they are read once.
template <class Memory>
typename Membership<Memory>::Wedge Membership<Memory>::reason_to_wedge() const {
  if (unsuspected() != view_.members.size()) return {WedgeReason::suspicion, {}};
  if (leader() != rank_) return {};
  const auto leaves = [this](const ViewMember& member) {
    return life(member.slot, ViewWords::kLeaving) != 0;
  };
  if (view_.members.size() > 1 && std::ranges::any_of(view_.members, leaves)) {
    return {WedgeReason::leave, {}};
  }
  const std::vector<ViewMember> joiners = this->joiners();
  return joiners.empty() ? Wedge{} : Wedge{WedgeReason::join, joiners.front()};
}

template <class Memory>
bool Membership<Memory>::others_wedge() const {
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    if (rank != rank_ && !suspected_[rank] && word(rank, ViewWords::kWedged) != 0) return true;
  }
  return false;
}

// J2.
template <class Memory>
void Membership<Memory>::wedge(const Wedge& why) {
  wedged_ = true;
  for (Group& group : groups_) group.subgroup->wedge();
  set(ViewWords::kWedged, 1);
  if (view_.id != 0) events_.wedged(why.reason, why.joiner);
}

// J9. In the end those who go on trust each other, and the others hear so.
template <class Memory>
void Membership<Memory>::give_up_alone() {
  std::size_t together = 1;
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    if (rank == rank_ || suspected_[rank]) continue;
    if (!says_suspected(rank, options_.self)) ++together;
  }
  if (2 * together > view_.members.size()) return alone_since_ns_.reset();
  if (!alone_since_ns_) alone_since_ns_ = now_ns_;
  if (now_ns_ - *alone_since_ns_ >= options_.suspect_after_ns) stop(StopReason::minority);
}

// Says for how many suspected members all groups have what the others sent.
template <class Memory>
void Membership<Memory>::settle() {
  for (std::uint32_t rank = 0; rank < view_.members.size(); ++rank) {
    if (rank == rank_ || suspected_[rank]) continue;
    if (word(rank, ViewWords::kWedged) == 0) return;
  }
  const std::uint64_t level = 1 + view_.members.size() - unsuspected();
  if (settled_ >= level) return;
  for (const Group& group : groups_) {
    if (!group.subgroup->settled(suspected_)) return;
  }
  settled_ = level;
  set(ViewWords::kSettled, level);
}

template <class Memory>
void Membership<Memory>::stop(StopReason reason) {
  if (stopped_) return;
  stopped_ = reason;
  events_.stopped(reason);  // first: who finds its ring closed asks why
  for (Group& group : groups_) group.subgroup->halt();
}

// To all who are in the view or about to be: those who are suspected too, for they may only be
// slow and should learn what was decided.
template <class Memory>
void Membership<Memory>::publish(Effects& effects) {
  dirty_ = true;  // something is posted
  told_.clear();
  for (const ViewMember& member : view_.members) {
    if (member.slot != options_.self) told_.push_back({member.slot});
  }
  for (std::uint32_t slot = 0; slot < ready_.size(); ++slot) {
    if (ready_[slot] != 0 && !view_.rank_of(slot)) told_.push_back({slot});
  }
  const std::array<Effects::Words, 2> words{{
      {words_.block(view_.id), {own_block(), words_.word_bytes()}},
      {ViewWords::kInstalled, {own_row_ + ViewWords::kInstalled, words_.life_bytes()}},
  }};
  effects.push(told_, {}, words);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Membership<NativeMemory>;
#endif

}  // namespace tutti
