/// \file greeting.hpp
/// What each side of an attachment tells the other before it can be written to: where its endpoint
/// is, and what memory it has registered for the other's row. Plain bytes, to be handed over by
/// whoever connected the two; bytes from a peer are input.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tutti/error.hpp"

namespace tutti::ofi {

struct Greeting {
  static constexpr std::size_t kAddressMax = 256;
  static constexpr std::size_t kProviderMax = 64;

  std::uint64_t epoch = 0;      ///< of the connection, the same at both ends
  std::uint64_t row_bytes = 0;  ///< room for the other's row; the rest of the window is behind it
  std::uint64_t base = 0;       ///< what the window's begin is called in a write
  std::uint64_t key = 0;        ///< of the window
  std::uint64_t process = 0;    ///< id of the process, on its host
  std::uint64_t token = 0;      ///< what who calls it must say: of this attachment only
  std::string provider;         ///< as libfabric names it
  std::string address;          ///< of the endpoint, or of where it listens
};

inline constexpr std::size_t kGreetingBytes =
    9 * 8 + Greeting::kProviderMax + Greeting::kAddressMax;
using GreetingBytes = std::array<std::byte, kGreetingBytes>;

/// Name and address fit.
[[nodiscard]] GreetingBytes encode(const Greeting& greeting);

/// Fails on what is no greeting.
[[nodiscard]] Result<Greeting> decode(std::span<const std::byte, kGreetingBytes> bytes);

/// Whether what the peer says goes with what we say, and with a row of ours of `own_row_bytes`.
[[nodiscard]] Result<void> check_greeting(const Greeting& ours, const Greeting& theirs,
                                          std::size_t own_row_bytes);

}  // namespace tutti::ofi
