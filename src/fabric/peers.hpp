/// \file peers.hpp
/// What the fabrics that hold a connection to each peer have in common.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "fabric/slot.hpp"

namespace tutti {

/// Enough for a row of 256 members many times over, far below what a corrupt list would say.
inline constexpr std::uint32_t kSlotMax = 65535;

/// Why a peer is lost whose connection ended.
inline constexpr const char* kPeerClosed = "its process ended or closed the connection";

/// For messages.
[[nodiscard]] inline std::string peer_name(Slot peer) {
  return "the member in slot " + std::to_string(peer.value);
}

/// For FabricCounters::posting_ns.
[[nodiscard]] inline std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  const auto elapsed = std::chrono::steady_clock::now() - start;
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(elapsed).count());
}

}  // namespace tutti
