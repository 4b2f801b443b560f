#include "cli/tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "cli/clock.hpp"
#include "fabric/address.hpp"

namespace tutti::cli {
namespace {

constexpr auto kCallAgainAfter = std::chrono::milliseconds(100);

struct FreeList {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeList>;

Result<AddressList> resolve(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    return fail(ErrorCode::unreachable,
                "cannot resolve '" + host +
                    "': " + (error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error)));
  }
  return AddressList(list);
}

UniqueFd socket_for(const addrinfo& one) {
  return UniqueFd(::socket(one.ai_family, one.ai_socktype | SOCK_CLOEXEC, one.ai_protocol));
}

// Requests are small and awaited; a host that is gone must not be waited for without end.
void tune(const UniqueFd& connection) {
  const int on = 1;
  static_cast<void>(::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  static_cast<void>(::setsockopt(connection.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
}

std::string host_of(const sockaddr_storage& address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  const int error = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(),
                                  static_cast<socklen_t>(host.size()), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? host.data() : "?";
}

std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

Result<UniqueFd> listen_at(const std::string& text) {
  const Result<Address> address = address_from(text);
  if (!address) return std::unexpected(address.error());
  const Result<AddressList> list = resolve(address->host, address->port, AI_PASSIVE);
  if (!list) return std::unexpected(list.error());
  const addrinfo& first = **list;
  UniqueFd socket(::socket(first.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket.get(), first.ai_addr, first.ai_addrlen) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return fail(ErrorCode::system, "cannot listen at " + text + ": " + std::strerror(errno) +
                                       "; take an address of this host and a free port");
  }
  return socket;
}

UniqueFd accept_at(const UniqueFd& listener) {
  UniqueFd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (connection) tune(connection);
  return connection;
}

Result<UniqueFd> call(const std::string& text, std::int64_t deadline_ns) {
  const Result<Address> address = address_from(text);
  if (!address) return std::unexpected(address.error());
  std::string problem;
  do {
    if (!problem.empty()) std::this_thread::sleep_for(kCallAgainAfter);
    const Result<AddressList> list = resolve(address->host, address->port, 0);
    if (!list) {  // names of hosts that start at the same time may come later
      problem = list.error().message;
      continue;
    }
    for (const addrinfo* one = list->get(); one != nullptr; one = one->ai_next) {
      UniqueFd socket = socket_for(*one);
      if (socket && ::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0) {
        tune(socket);
        return socket;
      }
      problem = std::strerror(errno);
    }
  } while (now_ns() < deadline_ns);
  return fail(ErrorCode::unreachable, "nobody answers at " + text + ": " + problem);
}

std::string own_host(const UniqueFd& connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(connection.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "?";
  }
  return host_of(address, size);
}

std::string other_host(const UniqueFd& connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(connection.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "?";
  }
  return host_of(address, size);
}

Result<std::uint16_t> free_port_of(const std::string& host) {
  const Result<AddressList> list = resolve(host, 0, AI_PASSIVE);
  if (!list) return std::unexpected(list.error());
  const UniqueFd socket = socket_for(**list);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (!socket || ::bind(socket.get(), (*list)->ai_addr, (*list)->ai_addrlen) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return fail(ErrorCode::system, "cannot find a free port of " + host + ": " +
                                       std::strerror(errno) +
                                       "; it must be an address of this host");
  }
  return port_of(address);
}

std::string address_text(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace tutti::cli
