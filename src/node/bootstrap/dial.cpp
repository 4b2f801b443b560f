/// \file dial.cpp
/// Calling the members of lower slots whenever they are not connected, until they answer.
#include <exception>
#include <utility>

#include "fabric/as_tuple.hpp"
#include "fabric/resolve.hpp"
#include "node/bootstrap/connect.hpp"
#include "node/bootstrap/handshakes.hpp"

namespace tutti {

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
      peer.pause = longer(peer.pause);
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
  for (const asio::ip::tcp::endpoint& endpoint : *endpoints) {
    if (over_) break;
    Result<LinkPtr> link = co_await connect_to(context_, endpoint, address);
    if (link) co_return std::move(*link);
    arrivals_.note(slot, std::move(link.error().message));
  }
  co_return nullptr;
}

}  // namespace tutti
