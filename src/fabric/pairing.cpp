#include "fabric/pairing.hpp"

#include <fcntl.h>

#include <array>
#include <boost/asio/use_awaitable.hpp>

namespace tutti {

asio::awaitable<Result<UniqueFd>> Pairing::take_socket() {
  link().close_watched();
  co_await link().flush();
  if (!link().is_open()) co_return link_gone();
  UniqueFd socket = link().release();
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  co_return std::move(socket);
}

std::uint64_t Pairing::epoch() const {
  std::array<std::uint64_t, 2> incarnations{request_.incarnation, request_.peer_incarnation};
  if (request_.peer < request_.self) std::swap(incarnations[0], incarnations[1]);
  return mix_epoch(incarnations);
}

std::uint64_t mix_epoch(std::span<const std::uint64_t> incarnations) {
  std::uint64_t epoch = 0;
  for (const std::uint64_t incarnation : incarnations) {  // SplitMix64's finalizer
    epoch = (epoch ^ incarnation) + 0x9e3779b97f4a7c15U;
    epoch = (epoch ^ (epoch >> 30U)) * 0xbf58476d1ce4e5b9U;
    epoch = (epoch ^ (epoch >> 27U)) * 0x94d049bb133111ebU;
    epoch ^= epoch >> 31U;
  }
  return epoch == 0 ? 1 : epoch;
}

}  // namespace tutti
