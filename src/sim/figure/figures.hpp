/// \file figures.hpp
/// The simulated figures that `tutti sim --figure NAME` prints, by name.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/figure/load.hpp"
#include "tutti/error.hpp"

namespace tutti::sim {

struct Figure {
  std::string_view name;
  std::string_view about;
  std::string (*draw)();  ///< takes seconds to minutes
};

[[nodiscard]] std::span<const Figure> figures();
/// The error says which names there are.
[[nodiscard]] Result<const Figure*> figure_from(std::string_view name);

enum class Ring : std::uint8_t { original, accelerated };

/// The networks of [Accelerated Ring, IV-A], as far as they are modelled: 8 members and a switch
/// that copies, messages of 1350 bytes. One way takes so long that the original ring has about the
/// latency of the paper at one load: at 1 Gbit/s agreed at 500 Mbit/s (Spread: 1.3 ms), at
/// 10 Gbit/s safe at 100 Mbit/s (520 us). Without a load.
[[nodiscard]] LoadOptions gigabit_ring(Level level, Ring ring);
[[nodiscard]] LoadOptions ten_gigabit_ring(Level level, Ring ring);

/// Links of 10 Gbit/s and senders that always have more to send.
[[nodiscard]] LoadOptions on_links(Order order, std::uint32_t nodes, std::uint32_t senders);

}  // namespace tutti::sim
