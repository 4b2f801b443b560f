/// \file outbox.hpp
/// What a step of a group wants posted.
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

}  // namespace tutti
