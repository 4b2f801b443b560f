/// \file tcp_socket.hpp
/// Sockets to call others with, as Asio takes them over.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "node/bootstrap/link.hpp"

namespace tutti {

/// Open, not connected, without delays and closed on exec. `error` says if it is not.
[[nodiscard]] asio::ip::tcp::socket open_socket(asio::io_context& context,
                                                const asio::ip::tcp::endpoint& endpoint,
                                                boost::system::error_code& error);

/// TCP can connect a socket to itself when nobody listens at a port of the ephemeral range.
[[nodiscard]] bool is_connected_to_itself(const asio::ip::tcp::socket& socket);

}  // namespace tutti
