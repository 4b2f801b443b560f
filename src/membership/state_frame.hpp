/// \file state_frame.hpp
/// What goes before each piece of a state in the ring: which piece it is, and how to tell that it
/// came whole.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "base/crc32c.hpp"
#include "membership/state_words.hpp"

namespace tutti {

[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

struct StateFrame {
  PieceAt at{};
  std::uint64_t size = 0;  ///< of the piece, in bytes
  bool last = false;       ///< of its group's state
  bool steady = false;     ///< the same bytes at every giver

  [[nodiscard]] std::array<std::uint64_t, 3> words(std::span<const std::byte> piece) const {
    TUTTI_ASSERT(piece.size() == size && size >> 62 == 0, piece.size(), size, at.group, at.index);
    TUTTI_ASSERT(PieceAt::from(at.word()) == at, at.group, at.index);
    std::array<std::uint64_t, 3> out{at.word(), size << 2 | (last ? 2 : 0) | (steady ? 1 : 0), 0};
    const auto header = std::as_bytes(std::span(out).first(2));
    out[2] = crc32c(piece, crc32c(header));
    return out;
  }
  [[nodiscard]] static StateFrame from(const std::array<std::uint64_t, 3>& words) {
    return {PieceAt::from(words[0]), words[1] >> 2, (words[1] & 2) != 0, (words[1] & 1) != 0};
  }
};

}  // namespace tutti
