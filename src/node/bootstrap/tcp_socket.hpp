/// \file tcp_socket.hpp
/// Sockets to call others with, as Asio takes them over, and to be called at.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/unique_fd.hpp"
#include "fabric/link.hpp"

namespace tutti {

/// Open, not connected, without delays and closed on exec. `error` says if it is not.
[[nodiscard]] asio::ip::tcp::socket open_socket(asio::io_context& context,
                                                const asio::ip::tcp::endpoint& endpoint,
                                                boost::system::error_code& error);

/// Takes over a connection, without delays. `error`: it is none, and is closed.
[[nodiscard]] asio::ip::tcp::socket adopt_socket(asio::io_context& context, UniqueFd fd,
                                                 boost::system::error_code& error);

/// A socket that listens at `endpoint`. Of all that ask for one endpoint at the same moment, one
/// gets it; the others are told that it is in use.
[[nodiscard]] Result<UniqueFd> listen_at(const asio::ip::tcp::endpoint& endpoint);

/// TCP can connect a socket to itself when nobody listens at a port of the ephemeral range.
[[nodiscard]] bool is_connected_to_itself(const asio::ip::tcp::socket& socket);

}  // namespace tutti
