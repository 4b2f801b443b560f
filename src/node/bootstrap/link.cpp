/// \file link.cpp
#include "node/bootstrap/link.hpp"
#include "node/bootstrap/as_tuple.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace tutti {
namespace {

using boost::system::error_code;

std::string describe(const error_code& error) {
  if (error == asio::error::eof) return "it closed the connection";
  return error.message();
}

}  // namespace

Link::Link(asio::io_context& context, asio::ip::tcp::socket socket, std::string where)
    : socket_(std::move(socket)),
      unix_(context),
      limit_(context),
      sent_(context, asio::steady_timer::time_point::max()),
      where_(std::move(where)) {}

void Link::send(std::string frame) {
  if (finishing_) return;
  outbox_.push_back(std::move(frame));
  if (outbox_.size() == 1) write_next();
}

void Link::write_next() {
  asio::async_write(socket_, asio::buffer(outbox_.front()),
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      if (error) {
                        self->outbox_.clear();
                      } else {
                        self->outbox_.pop_front();
                      }
                      if (!self->outbox_.empty()) {
                        self->write_next();
                        return;
                      }
                      self->sent_.cancel();
                      error_code ignored;
                      if (!self->finishing_) return;
                      self->socket_.shutdown(asio::socket_base::shutdown_send, ignored);
                    });
}

void Link::finish_sending() {
  finishing_ = true;
  error_code ignored;
  if (outbox_.empty()) socket_.shutdown(asio::socket_base::shutdown_send, ignored);
}

asio::awaitable<void> Link::flush() {
  while (!outbox_.empty()) co_await sent_.async_wait(kAsTuple);
}

void Link::limit_silence(std::chrono::nanoseconds limit) {
  limit_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(limit));
  limit_.async_wait([weak = weak_from_this()](const error_code& error) {
    const std::shared_ptr<Link> self = weak.lock();
    // The limit may have been set anew after this was queued.
    if (error || !self || self->limit_.expiry() > std::chrono::steady_clock::now()) return;
    self->silent_ = true;
    self->close();
  });
}

asio::awaitable<std::string> Link::read(std::span<std::byte> bytes) {
  if (!ended_.empty()) co_return ended_;
  const auto [error, size] =
      co_await asio::async_read(socket_, asio::buffer(bytes.data(), bytes.size()), kAsTuple);
  if (!error) co_return std::string();
  ended_ = silent_ ? "it was silent for too long" : describe(error);
  co_return ended_;
}

asio::awaitable<Result<std::string>> Link::read_frame() {
  HelloPrefix prefix{};
  std::string problem = co_await read(prefix);
  if (!problem.empty()) co_return fail(ErrorCode::peer_lost, std::move(problem));
  const Result<std::uint32_t> length = decode_prefix(prefix);
  if (!length) co_return std::unexpected(length.error());
  std::string body(*length, '\0');
  problem = co_await read(std::as_writable_bytes(std::span(body)));
  if (!problem.empty()) co_return fail(ErrorCode::peer_lost, std::move(problem));
  co_return body;
}

asio::awaitable<Result<Hello>> Link::read_hello() {
  const Result<std::string> body = co_await read_frame();
  if (!body) co_return std::unexpected(body.error());
  co_return decode_hello(*body);
}

asio::awaitable<Verdict> Link::read_verdict() {
  using enum Verdict::Kind;
  std::array<std::byte, 4> header{};
  std::string problem = co_await read(header);
  if (!problem.empty()) co_return Verdict{broken, {ErrorCode::peer_lost, std::move(problem)}};
  const std::uint32_t length = load_u32(header);
  if (length == 0) co_return Verdict{};
  if (length > kVerdictMax) {
    co_return Verdict{broken, {ErrorCode::mismatch, "its verdict is malformed"}};
  }
  std::string body(length, '\0');
  problem = co_await read(std::as_writable_bytes(std::span(body)));
  if (!problem.empty()) co_return Verdict{broken, {ErrorCode::peer_lost, std::move(problem)}};
  co_return decode_verdict(body);
}

asio::awaitable<void> Link::drain() {
  std::array<std::byte, 4096> scratch{};
  while (ended_.empty()) {
    const auto [error, size] =
        co_await socket_.async_read_some(asio::buffer(scratch.data(), scratch.size()), kAsTuple);
    if (error) ended_ = describe(error);
  }
}

void Link::watch(UniqueFd unix_fd) {
  close_unix();
  error_code error;
  if (unix_fd) unix_.assign(unix_fd.get(), error);
  if (!error) (void)unix_fd.release();
}

asio::awaitable<bool> Link::unix_readable() {
  // A peer that gives up says so on the connection, and perhaps never comes to the unix socket.
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = shared_from_this()](const error_code& failed) {
                       error_code ignored;
                       if (!failed && self->unix_.is_open()) self->unix_.cancel(ignored);
                     });
  const auto [error] = co_await unix_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
  co_return !error;
}

// Released first: what is watched may be a duplicate, which epoll would not forget by itself.
void Link::close_unix() {
  if (unix_.is_open()) static_cast<void>(release_unix());
}

asio::awaitable<void> Link::watched_readable() {
  co_await unix_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
}

asio::awaitable<bool> Link::readable() {
  const auto [error] = co_await socket_.async_wait(asio::socket_base::wait_read, kAsTuple);
  co_return !error;
}

void Link::poke() {
  error_code ignored;
  socket_.cancel(ignored);
}

void Link::close() {
  error_code ignored;
  limit_.cancel();
  close_unix();
  socket_.close(ignored);
}

UniqueFd Link::release() {
  error_code error;
  limit_.cancel();
  const int fd = socket_.release(error);
  return error ? UniqueFd() : UniqueFd(fd);
}

}  // namespace tutti
