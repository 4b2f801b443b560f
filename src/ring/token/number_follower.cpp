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
    if (cursors_[turn_].safe && round_ >= safe_) break;  // and what comes after it waits too
    pass(turn_, filling.seq, filling);
    ++round_;
  }
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
