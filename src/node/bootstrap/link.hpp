/// \file link.hpp
/// One TCP connection during the handshake: queued sending, reading with a limit on silence.
///
/// Not part of the data path: after the handshake the descriptor is handed on, the link goes.
/// Threads: the one that runs the meeting.
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

struct Verdict {
  enum class Kind : std::uint8_t {
    agreed,
    refused,  ///< the other end says why, in `error`
    broken,   ///< there is none: `error` says what happened to the connection
  };
  Kind kind = Kind::agreed;
  Error error{};
};

class Link : public std::enable_shared_from_this<Link> {
 public:
  /// `where` is the other end's address, for messages.
  Link(asio::io_context& context, asio::ip::tcp::socket socket, std::string where);

  /// Sends after what was sent before; an error shows at the next read.
  void send(std::string frame);

  /// After all that was sent, tells the other end that no more comes. Sends nothing from now on.
  void finish_sending();
  [[nodiscard]] bool sent_all() const { return outbox_.empty(); }

  /// Closes the link unless the limit is set anew or lifted before it ends.
  void limit_silence(std::chrono::nanoseconds limit);
  void lift_limit();
  [[nodiscard]] bool was_silent() const { return silent_; }

  /// ErrorCode::peer_lost: the connection ended; others as decode_prefix and decode_hello.
  asio::awaitable<Result<Hello>> read_hello();
  asio::awaitable<Verdict> read_verdict();
  /// Reads and forgets until the other end closes: closing earlier could destroy what we sent.
  asio::awaitable<void> drain();

  /// Where rows are exchanged. unix_readable waits until something came there: false if something
  /// came on the connection instead, or the link was closed or silent.
  void watch(UniqueFd unix_fd);
  asio::awaitable<bool> unix_readable();
  [[nodiscard]] int unix_fd() { return unix_.is_open() ? unix_.native_handle() : -1; }
  [[nodiscard]] UniqueFd release_unix() { return UniqueFd(unix_.release()); }

  /// Once the peer is met: waits on what outlives the handshake, the unix socket if there is one,
  /// else the connection, and reads nothing from it. Returns how the other end left; "" if data
  /// came, which is the fabric's, or if the socket was closed or released here.
  asio::awaitable<std::string> left();

  void close();
  void close_unix();
  [[nodiscard]] UniqueFd release();
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  void write_next();
  /// Fills `bytes`; returns what went wrong, "" if nothing.
  asio::awaitable<std::string> read(std::span<std::byte> bytes);

  asio::ip::tcp::socket socket_;
  asio::posix::stream_descriptor unix_;
  asio::steady_timer limit_;
  std::deque<std::string> outbox_;  // the front is being written
  std::string where_;
  bool finishing_ = false;
  bool silent_ = false;
};

}  // namespace tutti
