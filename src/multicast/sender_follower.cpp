#include "multicast/sender_follower.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "multicast/follower_walk.hpp"
#include "sst/memory.hpp"

namespace tutti {

// A sender that comes back was in no view in between. Both deliver by sender.
template <class Memory>
void SenderFollower<Memory>::number_on(const Follower<Memory>& before, const GroupShape& of_view) {
  TUTTI_ASSERT(of_view.order == shape_.order, shape_.view, shape_.self);
  const auto& last = static_cast<const SenderFollower&>(before);
  for (const SenderIndex s : shape_.sender_indices()) {
    TUTTI_ASSERT(cursors_[s].records == 0, cursors_[s].records, s, shape_.view, shape_.self);
    const auto was = std::ranges::find(of_view.sender_ids, shape_.sender_ids[s]);
    if (was == of_view.sender_ids.end()) continue;
    const SenderIndex index{static_cast<std::uint32_t>(was - of_view.sender_ids.begin())};
    earlier_[s] = last.earlier_[index] + last.cursors_[index].delivered;
  }
}

// Every sender by itself: as many as it has, then the next.
template <class Memory>
void SenderFollower<Memory>::fill(Filling& filling) {
  const std::uint32_t senders = shape_.senders();
  for (std::uint32_t tried = 0; tried < senders; ++tried) {
    while (cursors_[turn_].round != kNoRound) {
      if (filling.full()) return;
      pass(turn_, earlier_[turn_] + cursors_[turn_].delivered, filling);
    }
    turn_ = next_in_turn(turn_, senders);
  }
}

// A sender that has ended may show more only by a lie: it stays ended.
template <class Memory>
bool SenderFollower<Memory>::publish_consumed(SenderIndex sender, bool done) {
  const bool ended = consumed_[sender].load(std::memory_order_relaxed) == kNoRound;
  return !ended && this->raise(consumed_[sender], done ? kNoRound : cursors_[sender].records);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class SenderFollower<NativeMemory>;
#endif

}  // namespace tutti
