/// \file ring_place.hpp
/// A place in a sender's ring, told by the thread that delivers to the one that makes a cut, and
/// the walk from there over the records that follow.
///
/// Invariant: records from a published place on are not overwritten before we publish that we have
/// delivered them, so the walk reads what was sent. Headers come from another member and are
/// checked; nothing outside the ring is read.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "smc/record.hpp"
#include "sst/sent_word.hpp"

namespace tutti {

struct RingPlace {
  std::uint64_t records = 0;  ///< of the view, before this place
  std::uint64_t round = 0;    ///< of the next record, unless it is stamped
  std::uint32_t offset = 0;   ///< of the next record, in granules
};

/// One writer, any readers, nobody waits.
class RingPlaceCell {
 public:
  void store(const RingPlace& place) {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    // Release: none of these is seen without the odd version before it.
    records_.store(place.records, std::memory_order_release);
    round_.store(place.round, std::memory_order_release);
    offset_.store(place.offset, std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  /// Nothing while it is being written.
  [[nodiscard]] std::optional<RingPlace> load() const {
    const std::uint64_t version = version_.load(std::memory_order_acquire);
    RingPlace place;
    // Acquire: the second look at the version comes after these.
    place.records = records_.load(std::memory_order_acquire);
    place.round = round_.load(std::memory_order_acquire);
    place.offset = offset_.load(std::memory_order_acquire);
    if (version % 2 != 0 || version_.load(std::memory_order_relaxed) != version) return {};
    return place;
  }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::uint32_t> offset_{0};
};

struct RingExtent {
  const std::byte* ring = nullptr;
  std::uint32_t granules = 0;
};

/// The round of the first record from `place` on that is in round `from` or later: kNoRound if the
/// first `records_end` records of `view` have none, nothing if a header is impossible.
template <class Memory>
[[nodiscard]] std::optional<std::uint64_t> first_round_from(const Memory& memory,
                                                            const RingExtent& ring, RingPlace place,
                                                            std::uint64_t records_end,
                                                            std::uint64_t from,
                                                            std::uint64_t view) {
  const auto header_at = [&](std::uint32_t offset) {
    return unpack_header(memory.load(ring.ring + std::size_t{offset} * kGranule));
  };
  for (; place.records < records_end; ++place.records) {
    RecordHeader header = header_at(place.offset);
    const auto stamp = [&place, view](RecordHeader seen) {
      if (!seen.stamped() || seen.stamp_seen_from(view) != StampFrom::this_view) return;
      place.round += seen.round - static_cast<std::uint32_t>(place.round);
    };
    stamp(header);
    if (header.pad()) {
      place.offset = 0;
      header = header_at(0);
      if (header.pad()) return {};
      stamp(header);
    }
    if (place.round >= from) return place.round;
    const std::uint64_t end = std::uint64_t{place.offset} + record_granules(header.length());
    if (end > ring.granules) return {};
    place.offset = static_cast<std::uint32_t>(end) & (ring.granules - 1);
    ++place.round;
  }
  return kNoRound;
}

}  // namespace tutti
