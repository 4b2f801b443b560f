/// \file greeting.hpp
/// What two nodes tell each other in rdma_cm's private data when their queue pairs are connected:
/// who they are, and where the other's row is written.
///
/// On the wire: 44 bytes, little-endian. Bytes from a peer are input: rdma_cm hands over whatever
/// anybody sends to our port.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tutti/error.hpp"

namespace tutti::verbs {

struct Greeting {
  std::uint64_t from = 0;          ///< incarnation of the sender
  std::uint64_t to = 0;            ///< and of the receiver
  std::uint64_t region = 0;        ///< where the receiver's row lies in the sender's memory
  std::uint64_t region_bytes = 0;  ///< room for the row there; the receiver's bell is right behind
  std::uint32_t rkey = 0;          ///< of that memory
  std::uint32_t slot = 0;          ///< of the sender
  friend bool operator==(const Greeting&, const Greeting&) = default;
};

/// rdma_cm leaves 56 bytes to who calls over IP.
inline constexpr std::size_t kGreetingBytes = 44;

[[nodiscard]] std::array<std::byte, kGreetingBytes> encode_greeting(const Greeting& greeting);

/// Longer data is fine: rdma_cm pads it. ErrorCode::mismatch: it is no greeting.
[[nodiscard]] Result<Greeting> decode_greeting(std::span<const std::byte> bytes);

}  // namespace tutti::verbs
