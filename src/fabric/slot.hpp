/// \file slot.hpp
/// The index of a node in the list of all nodes that may be members: the same everywhere, and fixed
/// as long as the node runs. Its rank in a view (tutti/types.hpp) changes with the view.
#pragma once
#include <compare>
#include <cstdint>

namespace tutti {

struct Slot {
  std::uint32_t value = 0;
  friend auto operator<=>(const Slot&, const Slot&) = default;
};

}  // namespace tutti
