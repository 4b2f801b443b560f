/// \file entered.hpp
/// A view that a simulated member was in, as its protocol saw it.
#pragma once
#include <cstdint>

#include "membership/view.hpp"

namespace tutti::sim {

struct Entered {
  View view;
  std::uint64_t at_ns;
  std::uint64_t decided_ns = ~0ULL;  // how it ends
  std::uint64_t pieces = 0;          // that this member has passed on in it
};

}  // namespace tutti::sim
