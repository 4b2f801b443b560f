/// \file net_options.hpp
/// How fast the simulated network is, and which orders and parts of writes it may show.
#pragma once
#include <cstdint>

#include "fabric/ordering.hpp"

namespace tutti::sim {

struct NetOptions {
  std::uint64_t delay_ns = 2'000;   ///< one way, at least
  std::uint64_t jitter_ns = 2'000;  ///< at most so much more
  std::uint32_t slow_one_in = 0;    ///< so rarely a hundred times as long; 0: never
  std::uint32_t early_one_in = 0;   ///< so many writes overtake publishes; 0: none
  Ordering ordering = Ordering::writes;
  bool torn = false;                 ///< words of writes land in two parts, of any bytes
  std::uint64_t landing_ns = 1'000;  ///< a post is seen in parts for so long
  std::uint64_t disorder_ns = 0;     ///< so much later come writes on a path without order
};

}  // namespace tutti::sim
