/// \file tcp_socket.cpp
#include "node/bootstrap/tcp_socket.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace tutti {

using asio::ip::tcp;
using boost::system::error_code;

tcp::socket open_socket(asio::io_context& context, const tcp::endpoint& endpoint,
                        error_code& error) {
  tcp::socket socket(context);
  UniqueFd fd(::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    error = error_code(errno, boost::system::system_category());
    return socket;
  }
  // The kernel may give us the port of a member of this host that is just down: it must be able to
  // listen there when it comes back.
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socket.assign(endpoint.protocol(), fd.get(), error);
  if (error) return socket;
  (void)fd.release();
  socket.set_option(tcp::no_delay(true), error);
  return socket;
}

bool is_connected_to_itself(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint local = socket.local_endpoint(error);
  return !error && local == socket.remote_endpoint(error);
}

}  // namespace tutti
