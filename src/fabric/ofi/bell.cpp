#include "fabric/ofi/bell.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/system_error.hpp"

namespace tutti::ofi {

Result<Bell> Bell::open(Sleeper& sleeper, UniqueFd socket, const GreetingBytes& greeting) {
  int type = 0;
  socklen_t type_bytes = sizeof type;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &type_bytes) != 0 ||
      ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK) != 0) {
    return fail_system("its connection cannot be used");
  }
  if (type != SOCK_STREAM) {
    return fail(ErrorCode::invalid_argument, "its connection is not a stream");
  }
  // Nothing was sent before, so that it fits. If the peer is gone already, reading tells.
  const ssize_t sent = ::send(socket.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL);
  if (sent >= 0 && static_cast<std::size_t>(sent) < greeting.size()) {
    return fail(ErrorCode::system, "its connection has no room for a greeting");
  }
  const int fd = socket.get();
  Result<Watch> watch = Watch::of(sleeper, std::move(socket));
  if (!watch) return std::unexpected(std::move(watch.error()));
  return Bell(std::move(*watch), fd);
}

bool Bell::read() {
  while (true) {
    std::array<std::byte, 512> rings;
    const std::span<std::byte> target = greeted_ < kGreetingBytes
                                            ? std::span<std::byte>(greeting_).subspan(greeted_)
                                            : std::span<std::byte>(rings);
    const ssize_t bytes = ::recv(fd_, target.data(), target.size(), MSG_DONTWAIT);
    if (bytes == 0) return false;
    if (bytes < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    rung_ = rung_ || greeted_ == kGreetingBytes;
    greeted_ = std::min(greeted_ + static_cast<std::size_t>(bytes), kGreetingBytes);
    if (static_cast<std::size_t>(bytes) < target.size()) return true;
  }
}

std::optional<std::span<const std::byte, kGreetingBytes>> Bell::greeting() const {
  if (greeted_ < kGreetingBytes) return std::nullopt;
  return std::span<const std::byte, kGreetingBytes>(greeting_);
}

void Bell::ring() {
  // A connection that takes no more has rings enough that were not heard yet; one that has ended is
  // found by reading.
  const std::byte one{1};
  [[maybe_unused]] const ssize_t sent = ::send(fd_, &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace tutti::ofi
