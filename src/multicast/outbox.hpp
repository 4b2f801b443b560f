/// \file outbox.hpp
/// What a group wants posted.
#pragma once
#include <array>
#include <cstdint>

namespace tutti {

/// What a step asks the driver to push to the group's other members: data first, then control.
struct Outbox {
  struct Piece {
    std::uint32_t begin_granule = 0;  ///< within the ring
    std::uint32_t granules = 0;
  };
  std::array<Piece, 2> data{};  ///< the second one if the batch wraps around the ring's end
  std::uint32_t pieces = 0;
  bool control = false;
};

/// What passing on wants pushed, to those that are not suspected.
struct PassedPosts {
  bool words = false;               ///< the control words, and those of passing on
  std::uint32_t area_granules = 0;  ///< of the pass area, from its start
};

}  // namespace tutti
