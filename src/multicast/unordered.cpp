#include "multicast/unordered.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "multicast/round_cut.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void Unordered<Memory>::publish_consumed(SenderIndex sender, std::uint64_t rounds) {
  if (rounds == state_.received[sender]) return;
  TUTTI_ASSERT(rounds > state_.received[sender], rounds, state_.received[sender], sender,
               state_.shape.view, state_.shape.self);  // S1
  state_.received[sender] = rounds;
  state_.blocks.say(ControlWords::kReceived[sender], rounds);
}

template <class Memory>
std::uint64_t Unordered<Memory>::position_of(Rank member) const {
  const SenderIndex own = state_.shape.own_sender;
  return own == kNoSender ? 0 : state_.received_by(member, own);
}

template <class Memory>
std::uint64_t Unordered<Memory>::own_rounds_before(std::uint64_t position) const {
  return position >= kDeliveredAll ? kNoRound : position;
}

// All have received all that those who go on sent; of the others, each delivers what it has
// (kNoRound).
template <class Memory>
std::optional<Cut> Unordered<Memory>::find_cut(const IndexedBy<Rank, bool>& goes_on,
                                               const Follower<Memory>& /*follower*/) {
  RoundCut cut;
  cut.received.assign(state_.shape.senders(), kNoRound);
  for (const SenderIndex s : state_.shape.sender_indices()) {
    if (goes_on[state_.shape.sender_ranks[s]]) cut.received[s] = state_.sent[s].rounds;
  }
  return pack(cut);
}

// A cut is another member's word. It takes back nothing that was delivered here.
template <class Memory>
std::optional<ViewEnd> Unordered<Memory>::count_cut(const Cut& words, std::uint64_t first_seq,
                                                    const Follower<Memory>& follower) const {
  const RoundCut cut = unpack_round_cut(words);
  ViewEnd out;
  out.next_seq = first_seq;
  for (const SenderIndex s : state_.shape.sender_indices()) {
    const std::uint64_t here = std::max(cut.received[s], follower.consumed(s));
    out.records.push_back(std::min(here, state_.sent[s].records));
  }
  return out;
}

template <class Memory>
void Unordered<Memory>::set_end(const Cut& /*cut*/, const ViewEnd& end) {
  for (const SenderIndex s : state_.shape.sender_indices()) {
    state_.set_end(s, end.records[s], state_.sent[s].known_rounds());
  }
}

template <class Memory>
bool Unordered<Memory>::at_cut(const Cut& /*cut*/, const ViewEnd& end,
                               const Follower<Memory>& follower) const {
  for (const SenderIndex s : state_.shape.sender_indices()) {
    if (follower.consumed(s) < end.records[s]) return false;
  }
  return true;
}

template <class Memory>
bool Unordered<Memory>::is_sensible(const Cut& cut) const {
  if (state_.shape.members() == 0) return cut.words.empty();
  return cut.words.size() == 2 + state_.shape.senders() && cut.words[0] == 0 && cut.words[1] == 0;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Unordered<NativeMemory>;
#endif

}  // namespace tutti
