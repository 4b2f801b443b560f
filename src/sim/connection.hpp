/// \file connection.hpp
/// When a simulated member learned that it is connected to another one.
#pragma once
#include <cstdint>

#include "membership/view.hpp"

namespace tutti::sim {

struct Connection {
  ViewMember to;
  std::uint64_t at_ns;
};

}  // namespace tutti::sim
