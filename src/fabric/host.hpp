/// \file host.hpp
/// What the operating system knows about where this process runs.
#pragma once
#include <cstdint>
#include <string>

#include "tutti/error.hpp"

namespace tutti {

/// Two processes can share memory if all of this is equal.
struct HostIdentity {
  std::string boot_id;  ///< empty: unknown, and never equal to another's
  std::uint64_t user = 0;
  std::uint64_t network_namespace = 0;
};

/// The boot id is empty where the system does not tell it.
[[nodiscard]] HostIdentity this_host();

/// "tutti-" and 128 random bits: a name for an abstract unix socket that nobody guesses.
[[nodiscard]] Result<std::string> random_socket_name();

}  // namespace tutti
