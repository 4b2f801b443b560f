/// \file dial.cpp
/// Calling the members of lower rank until they answer.
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "node/bootstrap/address.hpp"
#include "node/bootstrap/meeting.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kRetryEvery = 30ms;
constexpr auto kRetrySlowly = 250ms;  // where something answered that is no member, or no name
constexpr auto kConnectTimeout = 3s;  // the kernel would go on for minutes
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

tcp::socket open_socket(asio::io_context& context, const tcp::endpoint& endpoint,
                        error_code& error) {
  tcp::socket socket(context);
  UniqueFd fd(::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    error = error_code(errno, boost::system::system_category());
    return socket;
  }
  socket.assign(endpoint.protocol(), fd.get(), error);
  if (error) return socket;
  (void)fd.release();
  socket.set_option(tcp::no_delay(true), error);
  return socket;
}

// TCP can connect a socket to itself when nobody listens at a port of the ephemeral range.
bool is_connected_to_itself(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint local = socket.local_endpoint(error);
  return !error && local == socket.remote_endpoint(error);
}

}  // namespace

asio::awaitable<void> Meeting::dial(std::uint32_t rank) {
  asio::steady_timer pause(context_);
  while (!over() && !peers_[rank].ready) {
    const LinkPtr link = co_await connect(rank);
    if (over()) co_return;
    if (link != nullptr) {
      links_.push_back(link);
      co_await greet(link, rank);
      drop(link);
      if (over()) co_return;
    }
    if (peers_[rank].ready) co_return;
    pause.expires_after(link ? asio::steady_timer::duration(kRetrySlowly)
                             : asio::steady_timer::duration(kRetryEvery));
    const auto [error] = co_await pause.async_wait(kAsTuple);
    if (error) co_return;
  }
}

asio::awaitable<Meeting::LinkPtr> Meeting::connect(std::uint32_t rank) {
  const std::string& address = member(rank).address;
  Peer& peer = peers_[rank];
  const auto endpoints = co_await resolve(address);
  if (!endpoints) {
    peer.trouble = endpoints.error().message;
    asio::steady_timer pause(context_, asio::steady_timer::duration(kRetrySlowly));
    co_await pause.async_wait(kAsTuple);
    co_return nullptr;
  }
  for (const tcp::endpoint& endpoint : *endpoints) {
    if (over()) break;
    error_code error;
    // Shared with the time limit, which may fire just as the connection is there.
    const auto socket = std::make_shared<tcp::socket>(open_socket(context_, endpoint, error));
    if (error) {
      peer.trouble = error.message();
      continue;
    }
    asio::steady_timer limit(context_, asio::steady_timer::duration(kConnectTimeout));
    limit.async_wait([socket](const error_code& cancelled) {
      error_code ignored;
      if (!cancelled) socket->close(ignored);
    });
    const auto [failed] = co_await socket->async_connect(endpoint, kAsTuple);
    limit.cancel();
    if (!failed && socket->is_open() && !is_connected_to_itself(*socket)) {
      co_return std::make_shared<Link>(context_, std::move(*socket), address);
    }
    const bool silent = failed == asio::error::operation_aborted;
    peer.trouble = silent ? "no answer from " + address
                   : failed && failed != asio::error::connection_refused
                       ? failed.message() + " at " + address
                       : "connection refused at " + address;
  }
  co_return nullptr;
}

asio::awaitable<Result<std::vector<tcp::endpoint>>> Meeting::resolve(std::string text) {
  const Result<Address> address = address_from(text);
  if (!address) co_return std::unexpected(address.error());
  std::vector<tcp::endpoint> endpoints;
  error_code error;
  const asio::ip::address numeric = asio::ip::make_address(address->host, error);
  if (!error) {
    endpoints.emplace_back(numeric, address->port);
    co_return endpoints;
  }
  tcp::resolver resolver(context_);
  const auto [problem, found] = co_await resolver.async_resolve(
      address->host, std::to_string(address->port), tcp::resolver::numeric_service, kAsTuple);
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  if (problem || endpoints.empty()) {
    co_return tutti::fail(ErrorCode::unreachable,
                          "cannot resolve host '" + address->host + "': " + problem.message());
  }
  co_return endpoints;
}

}  // namespace tutti
