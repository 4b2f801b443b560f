/// \file bell.hpp
/// The TCP connection beside an endpoint, as bootstrap made it: carries the greetings, then rings
/// whoever sleeps and cannot be woken by the provider, and ends with the peer's process.
///
/// Its end is what tells a peer's death: datagram endpoints never do, and of connected ones some
/// only when their retries are used up.
/// Threads: the predicate thread only.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "fabric/ofi/greeting.hpp"
#include "fabric/ofi/watch.hpp"

namespace tutti::ofi {

class Bell {
 public:
  /// Takes over a connected socket, and says the greeting.
  [[nodiscard]] static Result<Bell> open(Sleeper& sleeper, UniqueFd socket,
                                         const GreetingBytes& greeting);

  /// Whether it was rung, as far as read() has seen, since take_rung().
  [[nodiscard]] bool has_rung() const { return rung_; }
  [[nodiscard]] bool take_rung() { return std::exchange(rung_, false); }
  /// Takes what has come. False: the connection has ended.
  [[nodiscard]] bool read();
  /// The peer's greeting, once it is whole.
  [[nodiscard]] std::optional<std::span<const std::byte, kGreetingBytes>> greeting() const;

  /// Wakes the peer.
  void ring();

  /// The next that comes wakes the Sleeper.
  void wait() { watch_.wait(); }
  /// Whether something came since the last call, as far as the Sleeper knows.
  [[nodiscard]] bool take_fired() { return watch_.take_fired(); }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  Bell(Watch watch, int fd) : watch_(std::move(watch)), fd_(fd) {}

  Watch watch_;
  int fd_;  // the socket, owned by `watch_`
  GreetingBytes greeting_{};
  std::size_t greeted_ = 0;
  bool rung_ = false;
};

}  // namespace tutti::ofi
