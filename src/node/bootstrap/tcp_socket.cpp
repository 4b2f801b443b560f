/// \file tcp_socket.cpp
#include "node/bootstrap/tcp_socket.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace tutti {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

// More than any real crowd at one address needs; it is there so that no kernel can keep us for
// ever.
constexpr int kListenAttempts = 100;

std::unexpected<Error> refused(int error) {
  std::string text = std::system_category().message(error);
  if (error == EADDRINUSE) text += "; end the process that uses it, or take another port";
  return fail(ErrorCode::system, text);
}

}  // namespace

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

tcp::socket adopt_socket(asio::io_context& context, UniqueFd fd, error_code& error) {
  tcp::socket socket(context);
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    error = error_code(errno, boost::system::system_category());
    return socket;
  }
  socket.assign(storage.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd.get(), error);
  if (error) return socket;
  (void)fd.release();
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  return socket;
}

Result<UniqueFd> listen_at(const tcp::endpoint& endpoint) {
  for (int attempt = 1;; ++attempt) {
    UniqueFd fd(
        ::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return refused(errno);
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
      return refused(errno);
    }
    if (::listen(fd.get(), SOMAXCONN) == 0) return fd;
    // bind() refuses an address at which somebody listens. It did not, so another was in listen()
    // at the same moment, and Linux may have refused both. A node that was refused there begins
    // again: the last one that does finds the address free.
    if (errno != EADDRINUSE || attempt == kListenAttempts) return refused(errno);
  }
}

bool is_connected_to_itself(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint local = socket.local_endpoint(error);
  return !error && local == socket.remote_endpoint(error);
}

}  // namespace tutti
