/// \file host.hpp
/// What the operating system knows about where this process runs.
#pragma once
#include <cstdint>
#include <string>

#include "node/bootstrap/hello.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// The boot id is empty where the system does not tell it.
[[nodiscard]] HostIdentity this_host();

/// "tutti-" and 128 random bits: a name for an abstract unix socket that nobody guesses.
[[nodiscard]] Result<std::string> random_socket_name();

}  // namespace tutti
