/// \file tcp.hpp
/// Plain blocking TCP sockets, for the command's own traffic between hosts. The messages of members
/// go through the library.
#pragma once
#include <cstdint>
#include <string>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// Listens at HOST:PORT. Accepting never blocks; the connections do.
[[nodiscard]] Result<UniqueFd> listen_at(const std::string& text);

/// The next connection that waits, if there is one.
[[nodiscard]] UniqueFd accept_at(const UniqueFd& listener);

/// Connects to HOST:PORT; tries again until a process answers, at most until that time (now_ns).
[[nodiscard]] Result<UniqueFd> call(const std::string& text, std::int64_t deadline_ns);

/// The hosts at both ends of a connection, as numbers.
[[nodiscard]] std::string own_host(const UniqueFd& connection);
[[nodiscard]] std::string other_host(const UniqueFd& connection);

/// A port that no process uses at this moment; `host` must be this host.
[[nodiscard]] Result<std::uint16_t> free_port_of(const std::string& host);

/// HOST:PORT, with brackets where the host has colons.
[[nodiscard]] std::string address_text(const std::string& host, std::uint16_t port);

}  // namespace tutti::cli
