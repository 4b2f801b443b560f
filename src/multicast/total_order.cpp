#include "multicast/total_order.hpp"

#include <algorithm>
#include <atomic>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
std::uint64_t TotalOrder<Memory>::position_of(Rank member) const {
  return member == state_.shape.self ? state_.delivered
                                     : state_.blocks.count(member, ControlWords::kDelivered);
}

// A member at a later position has passed no fewer of them.
template <class Memory>
std::uint64_t TotalOrder<Memory>::own_rounds_before(std::uint64_t position) const {
  if (position >= kDeliveredAll) return kNoRound;
  const GroupShape& shape = state_.shape;
  TUTTI_ASSERT(shape.own_sender.value < shape.senders(), shape.own_sender, shape.view, shape.self);
  return rounds_before(position, shape.own_sender);
}

// A sender may have been silent for so long that a stamp alone does not tell the round: none is
// before where delivery is.
template <class Memory>
std::optional<RingWalk<Memory>> TotalOrder<Memory>::walk(SenderIndex sender,
                                                         const Follower<Memory>& follower) const {
  const std::uint64_t position = follower.position();  // first: the cursor is not before it
  std::optional<RingCursor> cursor = follower.cursor(sender);
  if (!cursor) return {};
  if (position < kDeliveredAll) {
    cursor->round = std::max(cursor->round, rounds_before(position, sender));
  }
  return state_.walk_from(sender, *cursor);
}

template <class Memory>
std::optional<ViewEnd> TotalOrder<Memory>::count_before(
    const IndexedBy<SenderIndex, std::uint64_t>& rounds, std::uint64_t first_seq,
    const Follower<Memory>& follower) const {
  const GroupShape& shape = state_.shape;
  TUTTI_ASSERT(rounds.size() == shape.senders(), rounds.size(), shape.view, shape.self);
  ViewEnd out;
  out.next_seq = first_seq;
  for (const SenderIndex s : shape.sender_indices()) {
    const std::optional<RingWalk<Memory>> start = walk(s, follower);
    if (!start) return {};
    const std::optional<RingCursor> end = cursor_before(*start, state_.sent[s].records, rounds[s]);
    // Y5: who reads the epoch after the headers has read those that were sent in this view.
    std::atomic_thread_fence(std::memory_order_acquire);
    const Rank rank = shape.sender_ranks[s];
    state_.overtaken = state_.met[s] && s != shape.own_sender && !state_.blocks.in_view(rank);
    if (state_.overtaken) return {};
    if (!end) {
      state_.violation = {rank, kImpossibleRecord};
      return {};
    }
    out.records.push_back(end->records);
    out.next_seq += end->messages;
  }
  return out;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class TotalOrder<NativeMemory>;
#endif

}  // namespace tutti
