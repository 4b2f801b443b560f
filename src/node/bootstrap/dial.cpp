/// \file dial.cpp
/// Calling the members of lower slots whenever they are not connected, until they answer.
#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/system_error.hpp"
#include "fabric/as_tuple.hpp"
#include "fabric/resolve.hpp"
#include "node/bootstrap/handshakes.hpp"
#include "node/bootstrap/tcp_socket.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kConnectTimeout = 3s;  // the kernel would go on for minutes

}  // namespace

asio::awaitable<void> Handshakes::dial(Slot slot) {
  Peer& peer = peers_[slot];
  while (!over_) {
    const bool turns_away = arrivals_.ended().has_value();
    if ((peer.attached && !turns_away) || giving_up_) {
      peer.again.expires_at(asio::steady_timer::time_point::max());
    } else {
      try {
        co_await call(slot);
      } catch (const std::exception& problem) {  // no memory, no thread for the resolver
        arrivals_.note(slot, problem.what());
      }
      if (over_) co_return;
      peer.again.expires_after(peer.pause);
      peer.pause = std::min(peer.pause * 9 / 8, kRetrySlowly);
    }
    co_await peer.again.async_wait(kAsTuple);  // or until cancelled, to look again
  }
}

asio::awaitable<void> Handshakes::call(Slot slot) {
  const LinkPtr link = co_await connect(slot);
  if (link == nullptr || over_) co_return;
  links_.push_back(link);
  co_await serve(link, slot);
}

asio::awaitable<Handshakes::LinkPtr> Handshakes::connect(Slot slot) {
  const std::string& address = member(slot).address;
  const Result<Endpoints> endpoints = co_await resolve(context_, address);
  if (!endpoints) {
    peers_[slot].pause = kRetrySlowly;
    arrivals_.note(slot, endpoints.error().message);
    co_return nullptr;
  }
  for (const tcp::endpoint& endpoint : *endpoints) {
    if (over_) break;
    error_code error;
    // Shared with the time limit, which may fire just as the connection is there.
    const auto socket = std::make_shared<tcp::socket>(open_socket(context_, endpoint, error));
    if (error) {
      const bool none = lacks_descriptors(error.value());
      arrivals_.note(slot,
                     none ? "cannot call it: " + std::string(kFreeDescriptors) : error.message());
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
    arrivals_.note(slot, silent ? "no answer from " + address
                         : failed && failed != asio::error::connection_refused
                             ? failed.message() + " at " + address
                             : "connection refused at " + address);
  }
  co_return nullptr;
}

}  // namespace tutti
