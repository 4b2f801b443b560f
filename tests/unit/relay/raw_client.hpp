/// \file raw_client.hpp
/// A client that says what a test wants, by blocking calls on a plain socket.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "relay/codec.hpp"

namespace tutti::relay::testing {

class RawClient {
 public:
  explicit RawClient(const std::string& address, int receive_bytes = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes != 0) {
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    const std::size_t colon = address.rfind(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    const timeval watchdog{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &watchdog, sizeof watchdog);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &watchdog, sizeof watchdog);
  }

  [[nodiscard]] bool is_connected() const { return connected_; }
  /// False: the relay has closed it.
  bool send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }
  bool send(const std::string& text) { return send(std::as_bytes(std::span(text))); }
  bool say(const Frame& frame) {
    std::vector<std::byte> bytes;
    encode(frame, bytes);
    return send(bytes);
  }
  bool hello(std::uint64_t id, const std::string& token = {}) {
    return say(Hello{.client_high = id, .client_low = 1, .name = "raw", .token = token}) &&
           hear<Welcome>().has_value();
  }
  /// The next frame of that kind, others are left out; empty: the connection has ended.
  template <class Kind>
  std::optional<Kind> hear() {
    const std::optional<Frame> frame = hear<Kind, Kind>();
    if (!frame) return std::nullopt;
    return std::get<Kind>(*frame);
  }
  /// The next frame of one of these kinds.
  template <class Kind, class Other>
  std::optional<Frame> hear() {
    for (;;) {
      const Result<std::optional<Frame>> frame = reader_.next();
      if (!frame) return std::nullopt;
      if (*frame) {
        if (std::holds_alternative<Kind>(**frame) || std::holds_alternative<Other>(**frame)) {
          return *frame;
        }
        continue;
      }
      std::byte bytes[4096];
      const ssize_t size = ::recv(fd_.get(), bytes, sizeof bytes, 0);
      if (size <= 0) return std::nullopt;
      reader_.append(std::span(bytes).first(static_cast<std::size_t>(size)));
    }
  }
  /// Reads until the relay has closed it. False: it did not in 20 s.
  bool is_closed() {
    char bytes[4096];
    for (;;) {
      const ssize_t size = ::recv(fd_.get(), bytes, sizeof bytes, 0);
      if (size == 0 || (size < 0 && errno == ECONNRESET)) return true;
      if (size < 0) return false;
    }
  }

 private:
  UniqueFd fd_;
  bool connected_ = false;
  FrameReader reader_{16U << 20};
};

}  // namespace tutti::relay::testing
