#include "flow/own_space.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "sst/memory.hpp"

namespace tutti {

template <class Memory>
OwnSpace<Memory>::OwnSpace(ControlBlocks<Memory>& blocks, std::uint64_t view, Rank self,
                           SendRing* ring, std::uint64_t base_records, std::uint32_t window_records,
                           const EarlierViews& earlier, Memory memory)
    : blocks_(blocks),
      view_(view),
      self_(self),
      ring_(ring),
      base_records_(base_records),
      earlier_(earlier),
      memory_(memory),
      round_map_(ring != nullptr ? window_records : 1),
      drained_(view == 0) {}

template <class Memory>
bool OwnSpace<Memory>::release(std::uint64_t rounds, std::uint64_t sent) {
  if (rounds <= released_rounds_ && ring_->released() >= base_records_) return false;
  const std::uint64_t before = ring_->released();
  TUTTI_ASSERT(all_drained_ && (released_rounds_ == 0 || before >= base_records_), released_rounds_,
               before, base_records_, view_, self_);  // I4
  released_rounds_ = rounds;
  ring_->release(std::max(before, base_records_ + round_map_.records_before(rounds, sent)));
  return ring_->released() != before;
}

// A member of the view may still have to deliver what earlier ones ended with (I4). A node
// that is not in it has lost the right to: before our records go, our epoch of the last view goes,
// and `reclaimed` rises for a node that is further behind (Y5).
template <class Memory>
bool OwnSpace<Memory>::find_all_drained() {
  if (!drained_) return false;
  for (const Rank m : blocks_.ranks()) {
    if (m == self_ || view_ == 0) continue;
    if ((blocks_.count(m, ControlWords::kBase) & ControlWords::kDrained) == 0) return false;
  }
  if (earlier_.control != nullptr) memory_.store(earlier_.control + ControlWords::kEpoch, 0);
  const std::byte* told = earlier_.reclaimed;  // it only grows
  TUTTI_ASSERT(told == nullptr || NativeMemory::load(told) <= view_, view_, self_);
  if (earlier_.reclaimed != nullptr) memory_.store(earlier_.reclaimed, view_);
  all_drained_ = true;
  return true;
}

template <class Memory>
void OwnSpace<Memory>::set_drained() {
  TUTTI_ASSERT(!drained_ && !all_drained_, view_, self_);
  drained_ = true;
  // Release: our reads of the earlier views' records are done; pairs with find_all_drained().
  blocks_.say(ControlWords::kBase,
              blocks_.load(self_, ControlWords::kBase) | ControlWords::kDrained);
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class OwnSpace<NativeMemory>;
#endif

}  // namespace tutti
