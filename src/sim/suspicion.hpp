/// \file suspicion.hpp
/// A simulated member's suspicion of another one, and what it knew when it began.
#pragma once
#include <cstdint>

#include "membership/view.hpp"

namespace tutti::sim {

struct Suspicion {
  ViewMember whom;
  std::uint64_t view;
  std::uint64_t at_ns;
  bool changing;           // it took part in a change of view already
  bool decided;            // and knew the decision
  std::uint64_t since_ns;  // when it took part and had heard that the connection is lost
};

}  // namespace tutti::sim
