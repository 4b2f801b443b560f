// When the space of our records may be used again (I4).
#include <algorithm>

#include "base/assert.hpp"
#include "multicast/multicast.hpp"
#include "sst/memory.hpp"
#include "sst/row_layout.hpp"

namespace tutti {

// How many of our rounds come before a place (place_of). A member at a later place has passed no
// fewer of them.
template <class Memory>
std::uint64_t Multicast<Memory>::own_rounds_before(std::uint64_t place) const {
  if (place >= kDeliveredAll) return kNoRound;
  if (shape_.level == Level::unordered) return place;
  TUTTI_ASSERT(shape_.own_sender < shape_.senders(), shape_.own_sender, shape_.view, shape_.self);
  const std::uint64_t round = place / shape_.senders();
  return round + (place % shape_.senders() > shape_.own_sender ? 1 : 0);
}

template <class Memory>
bool Multicast<Memory>::release() {
  const std::uint64_t base = shape_.own_base_records;
  if (ring_->released() == base + own_sent_.records) return false;
  if (!all_drained_ && (space_held_ || !find_all_drained())) return false;
  std::uint64_t place = kDeliveredAll;
  for (std::uint32_t m = 0; m < shape_.members(); ++m) place = std::min(place, place_of(m));
  const std::uint64_t rounds = own_rounds_before(place);
  if (rounds <= released_rounds_ && ring_->released() >= base) return false;
  const std::uint64_t before = ring_->released();
  TUTTI_ASSERT(all_drained_ && (released_rounds_ == 0 || before >= base), released_rounds_, before,
               base, shape_.view, shape_.self);  // I4
  released_rounds_ = rounds;
  ring_->release(std::max(before, base + round_map_.records_before(rounds, own_sent_.records)));
  return ring_->released() != before;
}

// A member of the view may still have to deliver what earlier ones ended with (I4). A node
// that is not in it has lost the right to: before our records go, our epoch of the last view goes,
// and `reclaimed` rises for a node that is further behind (Y5).
template <class Memory>
bool Multicast<Memory>::find_all_drained() {
  if (!drained_) return false;
  for (std::uint32_t m = 0; m < shape_.members() && shape_.view != 0; ++m) {
    if (m != shape_.self && (count(m, kBaseOffset) & kDrained) == 0) return false;
  }
  if (shape_.own_other_control != nullptr)
    memory_.store(shape_.own_other_control + kEpochOffset, 0);
  const std::byte* told = shape_.own_reclaimed;  // it only grows
  TUTTI_ASSERT(told == nullptr || NativeMemory::load(told) <= shape_.view, shape_.view,
               shape_.self);
  if (shape_.own_reclaimed != nullptr) memory_.store(shape_.own_reclaimed, shape_.view);
  all_drained_ = true;
  return true;
}

template <class Memory>
void Multicast<Memory>::set_drained() {
  TUTTI_ASSERT(!drained_ && !all_drained_, shape_.view, shape_.self);
  drained_ = true;
  // Release: our reads of the earlier views' records are done; pairs with find_all_drained().
  memory_.store(shape_.own_control + kBaseOffset, load(shape_.self, kBaseOffset) | kDrained);
  control_dirty_ = true;
}

template <class Memory>
bool Multicast<Memory>::holds_space(std::uint32_t member) const {
  if (ring_ == nullptr) return false;
  const std::uint64_t there = own_rounds_before(place_of(member));
  if (there >= own_sent_.rounds) return false;
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (own_rounds_before(place_of(m)) < there) return false;
  }
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class Multicast<NativeMemory>;
#endif

}  // namespace tutti
