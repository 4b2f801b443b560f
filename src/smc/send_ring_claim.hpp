/// \file send_ring_claim.hpp
/// How a SendRing is claimed and committed to: inlined into what applications call. Included by
/// send_ring.hpp alone, which says what holds.
#pragma once
#include "smc/send_ring.hpp"

namespace tutti {

// Acquire: pairs with release(): readers of the old records are done before they are overwritten.
inline SendRing::Released SendRing::released_now() const {
  return {released_records_.load(std::memory_order_acquire),
          released_granules_.load(std::memory_order_acquire)};
}

template <SendRing::Sharing sharing>
[[gnu::always_inline]] inline SendRing::Outcome SendRing::claim_as(std::uint32_t bytes,
                                                                   Released released,
                                                                   Space& space) noexcept {
  const std::uint32_t record = record_granules(bytes);
  const std::uint32_t need = sharing == Sharing::aligned ? whole(record) : record;
  const std::uint32_t capacity = granule_mask_ + 1;
  for (;;) {
    // Loaded after `released`, so that it can not be behind it.
    std::uint64_t word = claimed_.load(std::memory_order_relaxed);
    if ((word & kClosedBit) != 0) return Outcome::closed;

    const std::uint32_t count = static_cast<std::uint32_t>(word) & kCountMask;
    const std::uint32_t in_use =
        (count - static_cast<std::uint32_t>(released.records)) & kCountMask;
    const auto begin = static_cast<std::uint32_t>(word >> 32);
    const std::uint32_t granules_in_use = begin - released.granules;
    if constexpr (sharing != Sharing::alone) {
      // Held up meanwhile, while others claimed more than the ring: `released` is too old (SR3).
      if (in_use > record_mask_ + 1 || granules_in_use > capacity) [[unlikely]] {
        released = released_now();
        continue;
      }
    }
    if (in_use > record_mask_) return Outcome::full;

    const std::uint32_t left = capacity - (begin & granule_mask_);
    const std::uint32_t pad = need > left ? left : 0;
    if (pad + need > capacity - granules_in_use) return Outcome::full;

    const std::uint32_t end = begin + pad + record;
    // One addition, for the next claim waits for it; the rare overflow of the count is mended.
    std::uint64_t next = word + ((static_cast<std::uint64_t>(pad + need) << 32) | 1);
    if (count == kCountMask) next -= kClosedBit;
    // Nothing is published by a claim; commit() does that. Acquire: pairs with give_back(): another
    // thread has written there.
    if constexpr (sharing == Sharing::alone) {
      claimed_.store(next, std::memory_order_relaxed);
    } else if (!claimed_.compare_exchange_weak(word, next, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
      released = released_now();
      continue;
    }

    if (pad != 0) [[unlikely]]
      store_cell(at(begin), pack_header({kPadBit, 0}));
    std::byte* header = at(begin + pad);
    store_cell(header, pack_header({bytes, 0}));
    if constexpr (sharing == Sharing::aligned) {
      if (need != record) store_cell(at(end), pack_header({kPadBit | (need - record), 0}));
    }
    space = {header + kGranule, end, released.records + in_use};
    return Outcome::ok;
  }
}

[[gnu::always_inline]] inline SendRing::Outcome SendRing::claim(std::uint32_t bytes,
                                                                Space& space) noexcept {
  if (!bias_.enter()) return claim_shared(bytes, space);
  // Alone, what was released is looked up only when space runs out: the predicate thread writes
  // that line at every pass.
  Outcome outcome = claim_as<Sharing::alone>(bytes, seen_released_, space);
  if (outcome == Outcome::full) [[unlikely]] {
    seen_released_ = released_now();
    outcome = claim_as<Sharing::alone>(bytes, seen_released_, space);
  }
  bias_.leave();
  return outcome;
}

inline void SendRing::commit(const Space& space) noexcept {
  // Release: pairs with take(), which then sees the payload.
  ready_[space.index & record_mask_].store(
      (static_cast<std::uint64_t>(space.end) << 32) | lap(space.index), std::memory_order_release);
}

}  // namespace tutti
