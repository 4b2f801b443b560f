/// \file link.cpp
#include "fabric/link.hpp"
#include "fabric/as_tuple.hpp"

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
      watched_(context),
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

asio::awaitable<void> Link::drain() {
  std::array<std::byte, 4096> scratch{};
  while (ended_.empty()) {
    const auto [error, size] =
        co_await socket_.async_read_some(asio::buffer(scratch.data(), scratch.size()), kAsTuple);
    if (error) ended_ = describe(error);
  }
}

void Link::watch(UniqueFd fd) {
  close_watched();
  error_code error;
  if (fd) watched_.assign(fd.get(), error);
  if (!error) (void)fd.release();
}

asio::awaitable<bool> Link::watched_or_link_readable() {
  // A peer that gives up says so on the connection, and perhaps nothing where we watch.
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = shared_from_this()](const error_code& failed) {
                       error_code ignored;
                       if (!failed && self->watched_.is_open()) self->watched_.cancel(ignored);
                     });
  const auto [error] =
      co_await watched_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
  co_return !error;
}

// Released first: what is watched may be a duplicate, which epoll would not forget by itself.
void Link::close_watched() {
  if (watched_.is_open()) static_cast<void>(release_watched());
}

asio::awaitable<void> Link::watched_readable() {
  co_await watched_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
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
  close_watched();
  socket_.close(ignored);
}

UniqueFd Link::release() {
  error_code error;
  limit_.cancel();
  const int fd = socket_.release(error);
  return error ? UniqueFd() : UniqueFd(fd);
}

}  // namespace tutti
