/// \file link.hpp
/// One TCP connection during the handshake: queued sending, reading with a limit on silence. A
/// carrier may watch a descriptor of its own beside it.
///
/// Not part of the data path: after the handshake the descriptor is handed on, the link goes.
/// Threads: the one that shakes hands.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>

#include "base/coroutine_frames.hpp"
#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti {

namespace asio = boost::asio;

class Link : public std::enable_shared_from_this<Link> {
 public:
  /// `where` is the other end's address, for messages.
  Link(asio::io_context& context, asio::ip::tcp::socket socket, std::string where);

  /// Sends after what was sent before; an error shows at the next read.
  void send(std::string frame);

  /// After all that was sent, tells the other end that no more comes. Sends nothing from now on.
  void finish_sending();
  /// Returns when all that was sent is in the kernel, or lost with the connection.
  asio::awaitable<void> flush();

  /// Closes the link unless the limit is set anew or lifted before it ends.
  void limit_silence(std::chrono::nanoseconds limit);

  /// Fills `bytes`; returns what went wrong, "" if nothing. Once something has, it is said again
  /// without a look at the socket: Asio waits for news of it, and the kernel tells its end once.
  asio::awaitable<std::string> read(std::span<std::byte> bytes);
  /// Reads and forgets until the other end closes: closing earlier could destroy what we sent.
  /// Returns at once if that was seen before.
  asio::awaitable<void> drain();

  /// Takes a descriptor to be watched, in the place of the last one, which is closed.
  void watch(UniqueFd fd);
  [[nodiscard]] int watched_fd() { return watched_.is_open() ? watched_.native_handle() : -1; }
  [[nodiscard]] UniqueFd release_watched() { return UniqueFd(watched_.release()); }
  void close_watched();

  /// Waits until what is watched is readable: false if something came on the connection instead, or
  /// the link was closed or silent.
  asio::awaitable<bool> watched_or_link_readable();
  /// Waits for what is watched, and for nothing else; returns too when the link is closed.
  asio::awaitable<void> watched_readable();
  /// Waits until something comes on the connection, once all is flushed: false if the link was
  /// poked or closed instead.
  asio::awaitable<bool> readable();
  void poke();

  void close();
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  /// How many are free once it is closed.
  [[nodiscard]] std::size_t descriptors() const {
    return (socket_.is_open() ? 1U : 0U) + (watched_.is_open() ? 1U : 0U);
  }
  [[nodiscard]] UniqueFd release();
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  void write_next();

  asio::ip::tcp::socket socket_;
  asio::posix::stream_descriptor watched_;
  asio::steady_timer limit_;
  asio::steady_timer sent_;         // never expires; cancelled when the outbox is empty
  std::deque<std::string> outbox_;  // the front is being written
  std::string where_;
  std::string ended_{};  // what ended the reading; empty if nothing did
  bool finishing_ = false;
  bool silent_ = false;
};

/// The error of whatever needed a link that has ended.
[[nodiscard]] inline std::unexpected<Error> link_gone() {
  return fail(ErrorCode::peer_lost, "the other end went away or was silent for too long");
}

}  // namespace tutti
