/// \file neighbours.hpp
/// The members of a view as a ring, in the order of their ranks.
#pragma once
#include <cstdint>

#include "tutti/types.hpp"

namespace tutti {

struct Neighbours {
  Rank self{};
  std::uint32_t members = 0;

  [[nodiscard]] Rank after(Rank member) const {
    return {member.value + 1 == members ? 0 : member.value + 1};
  }
  [[nodiscard]] Rank before(Rank member) const {
    return {member.value == 0 ? members - 1 : member.value - 1};
  }
  [[nodiscard]] Rank next() const { return after(self); }
  [[nodiscard]] Rank last() const { return before(self); }
};

}  // namespace tutti
