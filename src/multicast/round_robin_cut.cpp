// How a view ends in the order round_robin: where the cut lies, what comes before it.
#include <algorithm>
#include <atomic>

#include "base/assert.hpp"
#include "multicast/round_robin.hpp"
#include "sst/memory.hpp"

namespace tutti {

// All that it sent before it wedged is in our memory.
template <class Memory>
std::optional<std::uint64_t> RoundRobin<Memory>::first_lacking(SenderIndex sender,
                                                               std::uint64_t from,
                                                               const Follower<Memory>& follower) {
  const Rank rank = state_.shape.sender_ranks[sender];
  SentState last = state_.sent[sender];
  if (sender != state_.shape.own_sender) {
    const std::uint64_t word = state_.blocks.load(rank, ControlWords::kSent);
    if (!state_.met[sender] || !state_.blocks.in_view(rank)) return {};
    if (advance(last, word, state_.shape.window_records) == SentChange::impossible) {
      state_.violation = {rank, kImpossibleSent};
      return {};
    }
  }
  const std::optional<RingWalk<Memory>> start = this->walk(sender, follower);
  if (!start) return {};
  const std::optional<std::uint64_t> round = first_round_from(*start, last.records, from);
  if (round || sender == state_.shape.own_sender) return round;
  // Y5: see apply_cut().
  std::atomic_thread_fence(std::memory_order_acquire);
  if (state_.blocks.in_view(rank)) state_.violation = {rank, kImpossibleRecord};
  return {};
}

// D9. A lost sender may have delivered, and answered, what another lost one sent to it alone. Its
// answer comes later in the order, and goes with it. No member that goes on has delivered anything
// so late: it lacks that position.
template <class Memory>
void RoundRobin<Memory>::keep_causes(const IndexedBy<Rank, bool>& goes_on, RoundCut& cut) const {
  const GroupShape& shape = state_.shape;
  const IndexedBy<SenderIndex, std::uint64_t> received = cut.received;
  for (const SenderIndex s : shape.sender_indices()) {
    if (goes_on[shape.sender_ranks[s]]) continue;
    for (const SenderIndex other : shape.sender_indices()) {
      if (other == s || goes_on[shape.sender_ranks[other]] || received[other] == kNoRound) continue;
      cut.received[s] = std::min(cut.received[s], received[other] + (s < other ? 1 : 0));
    }
  }
}

// What all that go on have received of each sender. False: one still lacks what another may have
// delivered.
template <class Memory>
bool RoundRobin<Memory>::find_received(const IndexedBy<Rank, bool>& goes_on, RoundCut& cut) const {
  cut.received.assign(state_.shape.senders(), kNoRound);
  const bool delivered_alone = stability_.delivers_alone(goes_on);
  for (const SenderIndex s : state_.shape.sender_indices()) {
    for (const Rank m : state_.shape.ranks()) {
      if (!goes_on[m]) continue;
      const std::uint64_t received = state_.received_by(m, s);
      if (delivered_alone && received != state_.received[s]) return false;
      // Beyond what we know of s no member has anything that counts: its word may be a lie.
      const std::uint64_t known = received == kNoRound ? kNoRound : state_.sent[s].rounds;
      cut.received[s] = std::min({cut.received[s], received, known});
    }
  }
  if (delivered_alone) keep_causes(goes_on, cut);
  return true;
}

template <class Memory>
std::optional<Cut> RoundRobin<Memory>::find_cut(const IndexedBy<Rank, bool>& goes_on,
                                                const Follower<Memory>& follower) {
  RoundCut cut;
  if (!find_received(goes_on, cut)) return {};
  for (const SenderIndex s : state_.shape.sender_indices()) {
    const std::uint64_t last =
        cut.received[s] == kNoRound ? state_.sent[s].rounds : cut.received[s];
    cut.round = std::max(cut.round, last);
  }
  for (const SenderIndex s : state_.shape.sender_indices()) {
    // What a sender that does not go on sent beyond `received` is dropped: no position stops there.
    if (!goes_on[state_.shape.sender_ranks[s]] || cut.received[s] == kNoRound) continue;
    const std::optional<std::uint64_t> lacking = first_lacking(s, cut.received[s], follower);
    if (!lacking) return {};
    if (position(*lacking, s) < position(cut.round, cut.sender)) {
      cut.round = *lacking;
      cut.sender = s;
    }
  }
  return pack(cut);
}

template <class Memory>
std::optional<ViewEnd> RoundRobin<Memory>::count_cut(const Cut& words, std::uint64_t first_seq,
                                                     const Follower<Memory>& follower) const {
  const RoundCut cut = unpack_round_cut(words);
  IndexedBy<SenderIndex, std::uint64_t> before;
  for (const SenderIndex s : state_.shape.sender_indices()) {
    const std::uint64_t rounds = cut.round + (s < cut.sender ? 1 : 0);
    before.push_back(std::min(rounds, cut.received[s]));
  }
  return this->count_before(before, first_seq, follower);
}

// Later views may stamp anew, or unstamp, what comes after the cut: delivery, which may still have
// far to go, does not look there.
template <class Memory>
void RoundRobin<Memory>::set_end(const Cut& words, const ViewEnd& end) {
  const RoundCut cut = unpack_round_cut(words);
  for (const SenderIndex s : state_.shape.sender_indices()) {
    state_.set_end(s, end.records[s], cut.round + (s < cut.sender ? 1 : 0));
  }
}

template <class Memory>
bool RoundRobin<Memory>::at_cut(const Cut& words, const ViewEnd& /*end*/,
                                const Follower<Memory>& follower) const {
  if (words.words.empty()) return true;
  const SenderIndex sender{static_cast<std::uint32_t>(words.words[1])};  // without allocation
  return follower.position() >= position(words.words[0], sender);
}

// Positions are counted up to kNoRound.
template <class Memory>
bool RoundRobin<Memory>::is_sensible(const Cut& words) const {
  const std::uint64_t senders = state_.shape.senders();
  if (state_.shape.members() == 0) return words.words.empty();
  if (words.words.size() != 2 + senders) return false;
  const std::uint64_t some = std::max<std::uint64_t>(senders, 1);
  return words.words[1] < some && words.words[0] < kNoRound / some - 1;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class RoundRobin<NativeMemory>;
#endif

}  // namespace tutti
