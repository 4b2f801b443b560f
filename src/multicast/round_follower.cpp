#include "multicast/round_follower.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "multicast/follower_walk.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
void RoundFollower<Memory>::fill(Filling& filling) {
  while (!filling.full() && (run_block(filling) || run_round(filling))) {
  }
}

// One round from where we are. False when something is not there yet (Y2) or the batch is full.
template <class Memory>
[[gnu::always_inline]] inline bool RoundFollower<Memory>::run_round(Filling& filling) {
  bool delivered = false;
  const std::uint32_t senders = shape_.senders();
  const bool whole = sender_ == SenderIndex{};
  while (sender_.value < senders) {
    const Cursor& cursor = cursors_[sender_];
    if (cursor.round == round_) {
      if (round_ >= cursor.bounds.stable) return false;
      if (filling.seq >= filling.limit && !cursor.abandoned) return false;
      delivered = true;
      pass({sender_.value++}, filling.seq, filling);
      if (filling.full()) return false;
    } else {
      if (round_ >= cursor.bounds.known) return false;
      ++sender_.value;
    }
  }
  sender_ = {};
  ++round_;
  return delivered || !whole || skip_empty_rounds();
}

// A block of whole rounds in which the same senders have records of an unchanging size and the
// others have nulls: sender by sender, into every n-th message of the batch. Nearly all messages
// take this way. False if there is no such round here.
template <class Memory>
bool RoundFollower<Memory>::run_block(Filling& filling) {
  if (sender_ != SenderIndex{}) return false;
  std::uint64_t rounds = kNoRound;
  std::uint32_t active = 0;
  std::size_t round_bytes = 0;
  for (const SenderIndex s : shape_.sender_indices()) {
    const Cursor& cursor = cursors_[s];
    if (cursor.round != round_) {
      rounds = std::min({rounds, cursor.round - round_, known_after(cursor)});
      continue;
    }
    if (cursor.abandoned || cursor.tick || cursor.bounds.stable <= round_) return false;
    rounds = std::min({rounds, cursor.bounds.stable - round_,
                       cursor.bounds.records - cursor.records, records_before_wrap(cursor)});
    active_[active++] = s;
    round_bytes += cursor.length;
  }
  const std::uint64_t room = filling.room();
  if (active == 0 || active > room || rounds == 0) return false;
  rounds = std::min(rounds, room / active);
  if (round_bytes * rounds > kDeliveryBatchBytes) {
    rounds = std::max<std::uint64_t>(1, kDeliveryBatchBytes / round_bytes);
  }
  for (std::uint32_t a = 0; a < active; ++a) {
    rounds = lay_out(active_[a], filling, a, active, rounds);
  }
  TUTTI_ASSERT(rounds != 0 && rounds * active <= room, rounds, active, room, shape_.view);
  for (std::uint32_t a = 0; a < active; ++a) skip(cursors_[active_[a]], rounds);
  filling.next += rounds * active;
  filling.seq += rounds * active;
  filling.bytes += rounds * round_bytes;
  round_ += rounds;
  for (std::uint32_t a = 0; a < active; ++a) {
    Cursor& cursor = cursors_[active_[a]];
    if (cursor.records < cursor.bounds.records) peek(cursor);
  }
  return true;
}

template <class Memory>
std::uint64_t RoundFollower<Memory>::known_after(const Cursor& cursor) const {
  return cursor.bounds.known > round_ ? cursor.bounds.known - round_ : 0;
}

// False if no round will ever have a message again: everybody finished.
template <class Memory>
bool RoundFollower<Memory>::skip_empty_rounds() {
  std::uint64_t next = kNoRound;
  for (const Cursor& cursor : cursors_) {
    next = std::min({next, cursor.round, cursor.bounds.known});
  }
  if (next == kNoRound) return false;
  round_ = std::max(round_, next);
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class RoundFollower<NativeMemory>;
#endif

}  // namespace tutti
