/// \file load.hpp
/// One point of a simulated figure: members on a switch whose links have a rate, and applications
/// that send at a fixed rate.
///
/// The members, their engine and their memory are those of all simulated worlds; nothing fails.
/// What takes time is links, by their rate and delay (switch_ports.hpp). Processors take none.
/// The same options give the same figures. Threads: one.
#pragma once
#include <cstdint>

#include "sim/switch_ports.hpp"
#include "tutti/options.hpp"

namespace tutti::sim {

struct LoadOptions {
  std::uint32_t nodes = 8;
  std::uint32_t senders = 8;  ///< the first so many of them
  Order order = Order::round_robin;
  Level level = Level::atomic;
  std::uint32_t personal_window = 0;     ///< GroupOptions; of a token ring
  std::uint32_t accelerated_window = 0;  ///< the same
  std::uint32_t message_bytes = 1350;
  std::uint64_t window_bytes = 1ULL << 20;  ///< GroupOptions
  PortOptions ports{};
  std::uint64_t delay_ns = 0;          ///< of each frame
  std::uint64_t offered_megabits = 0;  ///< payload of all senders, each second; not 0
  std::uint64_t warm_ns = 20'000'000;
  std::uint64_t measured_ns = 50'000'000;
};

/// In the measured time.
struct LoadFigures {
  double megabits = 0;  ///< payload delivered at a member, each second
  /// From when an application wanted to send until a member delivered, the mean of all members.
  double latency_us = 0;
  /// At least 99.5 % of what was offered was delivered. If not, latency_us grows with the measured
  /// time.
  bool kept_up = false;
};

/// `options` make sense together. Aborts if a member finds that the protocol went wrong.
[[nodiscard]] LoadFigures measure(const LoadOptions& options);

}  // namespace tutti::sim
