/// \file link.hpp
/// One TCP connection during the handshake: queued sending, reading with a limit on silence.
///
/// Not part of the data path: after the handshake the descriptor is handed on, the link goes.
/// Threads: the lobby's.
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

#include "base/unique_fd.hpp"
#include "node/bootstrap/hello.hpp"

// GCC sees Asio's allocation of coroutine frames inlined but not the matching release: a false
// alarm at the end of coroutines, so it is silenced for the files that include this.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

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

  /// The body of a frame with a hello's prefix. ErrorCode::peer_lost: the connection ended; others
  /// as decode_prefix.
  asio::awaitable<Result<std::string>> read_frame();
  /// The same, of a hello: others as decode_hello, too.
  asio::awaitable<Result<Hello>> read_hello();
  asio::awaitable<Verdict> read_verdict();
  /// Reads and forgets until the other end closes: closing earlier could destroy what we sent.
  /// Returns at once if that was seen before.
  asio::awaitable<void> drain();

  /// Where rows are exchanged. unix_readable waits until something came there: false if something
  /// came on the connection instead, or the link was closed or silent.
  void watch(UniqueFd unix_fd);
  asio::awaitable<bool> unix_readable();
  /// Waits for what is watched, and for nothing else; returns too when the link is closed.
  asio::awaitable<void> watched_readable();
  /// Waits until something comes on the connection, once all is flushed: false if the link was
  /// poked or closed instead.
  asio::awaitable<bool> readable();
  void poke();
  [[nodiscard]] int unix_fd() { return unix_.is_open() ? unix_.native_handle() : -1; }
  [[nodiscard]] UniqueFd release_unix() { return UniqueFd(unix_.release()); }

  void close();
  void close_unix();
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  /// How many are free once it is closed.
  [[nodiscard]] std::size_t descriptors() const {
    return (socket_.is_open() ? 1U : 0U) + (unix_.is_open() ? 1U : 0U);
  }
  [[nodiscard]] UniqueFd release();
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  void write_next();
  /// Fills `bytes`; returns what went wrong, "" if nothing. Once something has, it is said again
  /// without a look at the socket: Asio waits for news of it, and the kernel tells its end once.
  asio::awaitable<std::string> read(std::span<std::byte> bytes);

  asio::ip::tcp::socket socket_;
  asio::posix::stream_descriptor unix_;
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
