/// \file outbox.hpp
/// What a group wants posted.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace tutti {

/// What a step asks the driver to push: data first, then the control words. Data go to all other
/// members, or, along a chain, to the member behind us.
struct Outbox {
  struct Piece {
    std::uint32_t begin_granule = 0;  ///< within the ring, or the lane
    std::uint32_t granules = 0;
  };
  /// A run of granules, in two pieces if it wraps around the end.
  struct Pieces {
    std::array<Piece, 2> at{};
    std::uint32_t count = 0;

    /// From granule `begin` on, in an area of so many, a power of two.
    static Pieces of(std::uint32_t begin, std::uint32_t granules, std::uint32_t area_granules) {
      const std::uint32_t first = begin & (area_granules - 1);
      const std::uint32_t length = std::min(granules, area_granules - first);
      return {{Piece{first, length}, Piece{0, granules - length}}, length == granules ? 1U : 2U};
    }
  };
  Pieces data;                   ///< of our ring
  Pieces lane;                   ///< of our lane, along a chain
  bool control = false;          ///< the words to all other members
  bool control_to_next = false;  ///< else, along a chain, to the member behind us
  bool control_to_last = false;  ///< and to the one before us

  [[nodiscard]] bool any() const { return control || control_to_next || control_to_last; }
};

/// What passing on wants pushed, to those that are not suspected.
struct PassedPosts {
  bool words = false;               ///< the control words, and those of passing on
  std::uint32_t area_granules = 0;  ///< of the pass area, from its start
};

}  // namespace tutti
