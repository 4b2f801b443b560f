/// \file frame.hpp
/// What a lane carries: frames, each with a part of one sender's ring, one behind the other. A part
/// may begin and end in the middle of a record.
///
///     63 .. 32 granules   31 with bytes   30 .. 0 sender   its index among the view's senders
///     begin     granules of the sender in this view that come before the part
///     sent      the sender's word (sent_word.hpp) as far as the parts up to this one cover it
///     bytes     of the ring; none where the reader reads the sender's own row, nor where the
///               sender owns the lane: then they go from its ring to the reader's replica of it
///
/// A frame without granules tells of nulls alone. Rings and lanes are counted in granules of 8
/// bytes from the start of the view, in 64 bits.
#pragma once
#include <array>
#include <cstdint>

#include "sst/sender_index.hpp"

namespace tutti {

struct Frame {
  SenderIndex sender{};
  std::uint32_t granules = 0;
  bool with_bytes = false;
  std::uint64_t begin = 0;
  std::uint64_t sent = 0;

  /// What it takes of the lane behind its header.
  [[nodiscard]] std::uint32_t bytes_granules() const { return with_bytes ? granules : 0; }
};

/// In granules.
inline constexpr std::uint32_t kFrameHeader = 3;

[[nodiscard]] constexpr std::array<std::uint64_t, kFrameHeader> pack_frame(const Frame& frame) {
  return {(std::uint64_t{frame.granules} << 32) | (frame.with_bytes ? 1ULL << 31 : 0) |
              frame.sender.value,
          frame.begin, frame.sent};
}
[[nodiscard]] constexpr Frame unpack_frame(const std::array<std::uint64_t, kFrameHeader>& words) {
  return {.sender = {static_cast<std::uint32_t>(words[0]) & 0x7fffffffU},
          .granules = static_cast<std::uint32_t>(words[0] >> 32),
          .with_bytes = (words[0] >> 31 & 1) != 0,
          .begin = words[1],
          .sent = words[2]};
}

}  // namespace tutti
