/// \file neighbours.hpp
/// The members of a view as a ring, in the order of their ranks.
#pragma once
#include <cstdint>

namespace tutti {

struct Neighbours {
  std::uint32_t self = 0;
  std::uint32_t members = 0;

  [[nodiscard]] std::uint32_t after(std::uint32_t member) const {
    return member + 1 == members ? 0 : member + 1;
  }
  [[nodiscard]] std::uint32_t before(std::uint32_t member) const {
    return member == 0 ? members - 1 : member - 1;
  }
  [[nodiscard]] std::uint32_t next() const { return after(self); }
  [[nodiscard]] std::uint32_t last() const { return before(self); }
};

}  // namespace tutti
