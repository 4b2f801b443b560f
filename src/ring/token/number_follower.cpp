#include "ring/token/number_follower.hpp"

#include <algorithm>

#include "multicast/follower_walk.hpp"
#include "sst/memory.hpp"

namespace tutti {

// Bounds are read sender by sender, and raised likewise. Up to the least of them the records of all
// senders were there before any was raised (N1).
template <class Memory>
void NumberFollower<Memory>::fill(Filling& filling) {
  std::uint64_t end = kNoRound;
  for (const auto& cursor : cursors_) end = std::min(end, cursor.bounds.stable);
  while (round_ < end && !filling.full() && find_next()) {
    const auto& cursor = cursors_[turn_];
    if (cursor.safe && round_ >= safe_) break;  // and what comes after it waits too
    if (filling.seq >= filling.limit && !cursor.abandoned) break;
    if (pass_run(filling, end)) continue;
    pass(turn_, filling.seq, filling);
    ++round_;
  }
}

// Records of one size that follow each other, of one sender: nearly all messages take this way.
// False if the next one does not.
template <class Memory>
bool NumberFollower<Memory>::pass_run(Filling& filling, std::uint64_t end) {
  auto& cursor = cursors_[turn_];
  if (cursor.abandoned || cursor.safe || cursor.tick) return false;
  std::uint64_t count =
      std::min({end - round_, filling.room(), cursor.bounds.records - cursor.records,
                records_before_wrap(cursor)});
  if (cursor.length * count > kDeliveryBatchBytes - filling.bytes) {
    count =
        std::min<std::uint64_t>(count, 1 + (kDeliveryBatchBytes - filling.bytes) / cursor.length);
  }
  if (count == 0) return false;
  const std::uint32_t length = cursor.length;
  count = lay_out(turn_, filling, 0, 1, count);
  skip(cursor, count);
  filling.next += count;
  filling.seq += count;
  filling.bytes += count * length;
  round_ += count;
  if (cursor.records < cursor.bounds.records) peek(cursor);
  return true;
}

// A sender's numbers come in runs, so the next number is most often its next record's. False only
// where a sender's ring was refused (Y4).
template <class Memory>
bool NumberFollower<Memory>::find_next() {
  for (std::uint32_t tried = 0; tried < shape_.senders(); ++tried) {
    if (cursors_[turn_].round == round_) return true;
    turn_ = next_in_turn(turn_, shape_.senders());
  }
  return false;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class NumberFollower<NativeMemory>;
#endif

}  // namespace tutti
