/// \file loopback.hpp
/// TCP connections over 127.0.0.1 between the processes of a limit program. The parent opens the
/// listening sockets before it forks, so ports cannot clash and a connect cannot come too early.
/// All sockets have TCP_NODELAY. Failures end the process.
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "processes.hpp"

namespace limits {

/// A listening socket on a free port.
[[nodiscard]] inline int listen_on_loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0) die("socket");
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) die("bind");
  if (listen(listener, SOMAXCONN) != 0) die("listen");
  return listener;
}

inline void set_no_delay(int connection) {
  const int on = 1;
  if (setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) die("TCP_NODELAY");
}

/// Connects to the listening socket `listener`, which another process may own.
[[nodiscard]] inline int connect_to(int listener) {
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    die("getsockname");
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  if (connection < 0) die("socket");
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), length) != 0) die("connect");
  set_no_delay(connection);
  return connection;
}

[[nodiscard]] inline int accept_from(int listener) {
  const int connection = accept(listener, nullptr, nullptr);
  if (connection < 0) die("accept");
  set_no_delay(connection);
  return connection;
}

inline void set_non_blocking(int connection) {
  if (fcntl(connection, F_SETFL, O_NONBLOCK) != 0) die("fcntl(O_NONBLOCK)");
}

/// Whether a failed send or recv on a non-blocking socket only found nothing to do.
[[nodiscard]] inline bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

/// One connection from `rank` to every other member; `listeners[r]` belongs to rank r. Higher ranks
/// connect to lower ones. The result has an entry per peer, in no particular order.
[[nodiscard]] inline std::vector<int> connect_mesh(int rank, const std::vector<int>& listeners) {
  std::vector<int> peers;
  peers.reserve(listeners.size());
  const int count = static_cast<int>(listeners.size());
  for (int peer = 0; peer < rank; ++peer) {
    peers.push_back(connect_to(listeners[static_cast<size_t>(peer)]));
  }
  for (int peer = rank + 1; peer < count; ++peer) {
    peers.push_back(accept_from(listeners[static_cast<size_t>(rank)]));
  }
  for (const int listener : listeners) close(listener);
  return peers;
}

}  // namespace limits
