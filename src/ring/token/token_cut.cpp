// How a view ends in the order token_ring: behind the last number that all who go on have, with all
// before it. What comes later is sent again, with new numbers, in the next view.
#include <algorithm>
#include <atomic>

#include "base/assert.hpp"
#include "ring/token/token_ring.hpp"
#include "sst/memory.hpp"

namespace tutti {

// A sender may have been silent for so long that a stamp alone does not tell the number: none is
// before where delivery is.
template <class Memory>
std::optional<RingWalk<Memory>> TokenRing<Memory>::walk(std::uint32_t sender,
                                                        const Follower<Memory>& follower) const {
  const std::uint64_t position = follower.position();  // first: the cursor is not before it
  std::optional<RingCursor> cursor = follower.cursor(sender);
  if (!cursor) return {};
  if (position < kDeliveredAll) cursor->round = std::max(cursor->round, position);
  return state_.walk_from(sender, *cursor);
}

// Nobody holds more for safe than any of them has (TK7). Where each delivers by itself all must
// have the same first.
template <class Memory>
std::optional<Cut> TokenRing<Memory>::find_cut(const std::vector<bool>& goes_on,
                                               const Follower<Memory>& /*follower*/) {
  const bool must_be_equal = stability_.delivers_alone(goes_on);
  std::uint64_t least = state_.here;
  for (std::uint32_t m = 0; m < state_.shape.members(); ++m) {
    if (!goes_on[m] || m == state_.shape.self) continue;
    const std::uint64_t word = state_.blocks.count(m, words_.here());
    if ((word & TokenWords::kWedged) == 0) return {};
    const std::uint64_t here = word & ~TokenWords::kWedged;
    if (must_be_equal && here != state_.here) return {};
    least = std::min(least, here);
  }
  return Cut{{least}};
}

template <class Memory>
std::optional<ViewEnd> TokenRing<Memory>::apply_cut(const Cut& cut, std::uint64_t first_seq,
                                                    const Follower<Memory>& follower) {
  const GroupShape& shape = state_.shape;
  const std::uint64_t numbers = cut.words.empty() ? 0 : cut.words[0];
  if (numbers > state_.here) return {};
  ViewEnd out;
  out.next_seq = first_seq;
  for (std::uint32_t s = 0; s < shape.senders(); ++s) {
    const std::optional<RingWalk<Memory>> start = walk(s, follower);
    if (!start) return {};
    const std::optional<RingCursor> end = cursor_before(*start, state_.sent[s].records, numbers);
    // Y5: who reads the epoch after the headers has read those that were sent in this view.
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint32_t rank = shape.sender_ranks[s];
    state_.overtaken = state_.met[s] && s != shape.own_sender && !state_.blocks.in_view(rank);
    if (state_.overtaken) return {};
    if (!end) {
      state_.violation = {rank, kImpossibleRecord};
      return {};
    }
    out.records.push_back(end->records);
    out.next_seq += end->messages;
  }
  for (std::uint32_t s = 0; s < shape.senders(); ++s) state_.set_end(s, out.records[s], numbers);
  return out;
}

template <class Memory>
bool TokenRing<Memory>::at_cut(const Cut& cut, const ViewEnd& /*end*/,
                               const Follower<Memory>& follower) const {
  return follower.position() >= (cut.words.empty() ? 0 : cut.words[0]);
}

template <class Memory>
bool TokenRing<Memory>::is_sensible(const Cut& cut) const {
  if (state_.shape.members() == 0) return cut.words.empty();
  return cut.words.size() == 1 && cut.words[0] < kNoRound;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class TokenRing<NativeMemory>;
#endif

}  // namespace tutti
