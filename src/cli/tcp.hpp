/// \file tcp.hpp
/// Plain blocking TCP sockets, for what the command itself says to itself on another host. The
/// messages of members go through the library.
#pragma once
#include <cstdint>
#include <string>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// Listens at HOST:PORT. Accepting never blocks; the connections do.
[[nodiscard]] Result<UniqueFd> listen_at(const std::string& text);

/// The next that has called, if there is one.
[[nodiscard]] UniqueFd accept_at(const UniqueFd& listener);

/// Calls HOST:PORT until somebody answers there, until that time (now_ns).
[[nodiscard]] Result<UniqueFd> call(const std::string& text, std::int64_t deadline_ns);

/// The hosts at both ends of a connection, as numbers.
[[nodiscard]] std::string own_host(const UniqueFd& connection);
[[nodiscard]] std::string other_host(const UniqueFd& connection);

/// A port of that host, which is this one, that nobody uses at this moment.
[[nodiscard]] Result<std::uint16_t> free_port_of(const std::string& host);

/// HOST:PORT, with brackets where the host has colons.
[[nodiscard]] std::string address_text(const std::string& host, std::uint16_t port);

}  // namespace tutti::cli
