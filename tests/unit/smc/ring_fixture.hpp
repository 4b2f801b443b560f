/// \file ring_fixture.hpp
/// A SendRing over memory of its own, and a reader that walks the records as a receiver does.
#pragma once
#include <cstring>
#include <span>
#include <vector>

#include "smc/send_ring.hpp"
#include "support/aligned_row.hpp"

namespace tutti::testing {

struct RingFixture {
  RingFixture(std::uint32_t granule_count, std::uint32_t records)
      : granules(granule_count),
        memory(granule_count * kGranule),
        ring(memory.data(), granule_count, records) {}

  /// Claims and commits; false if there was no space.
  bool send(std::uint32_t bytes) {
    SendRing::Space space;
    if (ring.claim(bytes, space) != SendRing::Outcome::ok) return false;
    ring.commit(space);
    return true;
  }
  /// Takes everything that is ready.
  SendRing::Batch take() { return ring.take(granules * kGranule); }

  [[nodiscard]] RecordHeader header_at(std::uint32_t granule) const {
    std::uint64_t word = 0;
    std::memcpy(&word, memory.data() + (granule % granules) * kGranule, sizeof word);
    return unpack_header(word);
  }

  /// The records of a batch, over the pads. Flags included.
  [[nodiscard]] std::vector<RecordHeader> records(const SendRing::Batch& batch) const {
    std::vector<RecordHeader> found;
    const std::uint32_t length = batch.end - batch.begin;
    for (std::uint32_t at = batch.begin; at - batch.begin < length;) {
      const RecordHeader header = header_at(at);
      found.push_back(header);
      at += header.pad() ? granules - at % granules : record_granules(header.length());
    }
    return found;
  }

  std::uint32_t granules;
  AlignedRow memory;
  SendRing ring;
};

}  // namespace tutti::testing
