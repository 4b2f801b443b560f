/// \file net_options.hpp
/// How fast the simulated network is, and in which order and parts writes may land.
#pragma once
#include <cstdint>

#include "fabric/ordering.hpp"
#include "sim/switch_ports.hpp"

namespace tutti::sim {

struct NetOptions {
  std::uint64_t delay_ns = 2'000;   ///< one way, at least
  std::uint64_t jitter_ns = 2'000;  ///< the most that is added to it
  std::uint32_t slow_one_in = 0;    ///< one post in so many takes a hundred times as long; 0: none
  std::uint32_t early_one_in = 0;   ///< one write in so many overtakes publishes; 0: none
  Ordering ordering = Ordering::writes;
  bool torn = false;                 ///< words of writes land in two parts, of any bytes
  std::uint64_t landing_ns = 1'000;  ///< the time over which a post lands
  std::uint64_t disorder_ns = 0;     ///< how much later writes land on a path without order
  PortOptions ports{};               ///< with a rate: delays are not drawn, and no connection ends
};

}  // namespace tutti::sim
