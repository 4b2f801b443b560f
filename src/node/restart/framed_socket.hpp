/// \file framed_socket.hpp
/// A TCP connection over which both ends send frames: a 32-bit length, little-endian, then so many
/// bytes.
///
/// Invariants:
///  FS1  Memory for a frame grows with the bytes that have come, whatever its length says.
///  FS2  What ended the connection first is the reason that read() gives.
/// An other end that is gone is noticed: at once if its kernel says so, else within 10 s.
/// Threads: the one that runs the context.
#pragma once
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "fabric/link.hpp"
#include "tutti/error.hpp"

namespace tutti {

inline constexpr std::size_t kLinkFrameMax = 64U << 20;
/// What may wait to be sent.
inline constexpr std::size_t kLinkOutboxMax = 4 * kLinkFrameMax;

class FramedSocket : public std::enable_shared_from_this<FramedSocket> {
 public:
  explicit FramedSocket(asio::ip::tcp::socket socket);

  /// Sends after what was sent before. A frame that is too large, or too much that waits, ends the
  /// connection, and so does an error: read() says so.
  void send(std::vector<std::byte> body);

  /// The next frame. ErrorCode::peer_lost: the connection has ended; mismatch: the other end said
  /// what is no frame; system: no memory. After an error the connection is closed.
  asio::awaitable<Result<std::vector<std::byte>>> read();

  /// read() ends with this reason.
  void close(Error why);

 private:
  struct Frame {
    std::array<std::byte, 4> length{};
    std::vector<std::byte> body{};
  };

  [[nodiscard]] static std::size_t cost_of(const Frame& frame) {
    return sizeof frame + frame.body.size();
  }
  void write_next();
  asio::awaitable<Result<std::vector<std::byte>>> read_frame();

  asio::ip::tcp::socket socket_;
  std::deque<Frame> outbox_{};    // the front is being written
  std::size_t outbox_bytes_ = 0;  // cost_of() all that is in it
  Error why_{};                   // FS2; no text: it is open
};

}  // namespace tutti
