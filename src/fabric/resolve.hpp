/// \file resolve.hpp
/// Addresses as text to what a socket takes. Numbers need no resolver.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

#include "fabric/link.hpp"
#include "tutti/error.hpp"

namespace tutti {

using Endpoints = std::vector<asio::ip::tcp::endpoint>;

/// At least one. Blocks while the system resolves a name.
[[nodiscard]] Result<Endpoints> resolve_now(asio::io_context& context, const std::string& text);

/// The same on a thread of Asio's.
asio::awaitable<Result<Endpoints>> resolve(asio::io_context& context, std::string text);

}  // namespace tutti
