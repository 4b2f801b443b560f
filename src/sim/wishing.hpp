/// \file wishing.hpp
/// Which groups a simulated application wants to be in, of those that are joined at run time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "membership/open_groups.hpp"

namespace tutti::sim {

struct Wishing {
  explicit Wishing(std::uint64_t seed) : random(seed ^ 0x77697368) {}

  Prng random;
  std::vector<GroupWish> wishes{};     ///< now, those included that it is about to leave
  std::vector<std::string> leaving{};  ///< about to: not all it sent is delivered
  std::vector<GroupWish> wished{};     ///< ever
};

}  // namespace tutti::sim
