/// \file framed_socket.cpp
#include "node/restart/framed_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <new>
#include <span>
#include <utility>

#include "fabric/as_tuple.hpp"
#include "node/bootstrap/hello.hpp"

namespace tutti {
namespace {

using boost::system::error_code;

// So much of a frame is taken to be there before any of it is.
constexpr std::size_t kFirstPiece = 64U << 10;

// 5 s without a word, then a question each second: the fifth without an answer ends the connection.
constexpr int kIdleSeconds = 5;
constexpr int kProbeSeconds = 1;
constexpr int kProbes = 5;
constexpr int kUnansweredMs = 10'000;

// An option that the kernel does not have is one less way to notice a loss.
void notice_losses(int fd) {
  const auto set = [fd](int level, int option, int value) {
    static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMs);
}

std::array<std::byte, 4> length_of(std::size_t size) {
  std::array<std::byte, 4> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>((size >> (8 * i)) & 0xffU);
  }
  return bytes;
}

Error lost(const error_code& error) {
  return {ErrorCode::peer_lost,
          error == asio::error::eof ? "it closed the connection" : error.message()};
}

std::string of_at_most(std::size_t size, std::size_t max) {
  return std::to_string(size) + " bytes; legal: at most " + std::to_string(max);
}

}  // namespace

FramedSocket::FramedSocket(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
  notice_losses(socket_.native_handle());
}

void FramedSocket::send(std::vector<std::byte> body) {
  if (!why_.message.empty()) return;
  if (body.size() > kLinkFrameMax) {
    return close({ErrorCode::system,
                  "a message for it would have " + of_at_most(body.size(), kLinkFrameMax)});
  }
  Frame frame{length_of(body.size()), std::move(body)};
  if (cost_of(frame) > kLinkOutboxMax - outbox_bytes_) {
    return close({ErrorCode::peer_lost, "it does not read what is sent to it"});
  }
  outbox_bytes_ += cost_of(frame);
  outbox_.push_back(std::move(frame));
  if (outbox_.size() == 1) write_next();
}

void FramedSocket::write_next() {
  const Frame& frame = outbox_.front();
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(frame.length),
                                                  asio::buffer(frame.body)};
  asio::async_write(socket_, buffers,
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      if (error) return self->close(lost(error));
                      self->outbox_bytes_ -= cost_of(self->outbox_.front());
                      self->outbox_.pop_front();
                      if (!self->outbox_.empty()) self->write_next();
                    });
}

asio::awaitable<Result<std::vector<std::byte>>> FramedSocket::read() {
  Result<std::vector<std::byte>> frame = fail(ErrorCode::system, "no memory for what it sends");
  try {
    frame = co_await read_frame();
  } catch (const std::bad_alloc&) {  // what `frame` says
  }
  if (frame) co_return frame;
  close(std::move(frame.error()));
  co_return std::unexpected(why_);
}

asio::awaitable<Result<std::vector<std::byte>>> FramedSocket::read_frame() {
  std::array<std::byte, 4> length{};
  const auto [failed, got] = co_await asio::async_read(socket_, asio::buffer(length), kAsTuple);
  if (failed) co_return std::unexpected(lost(failed));
  const std::size_t size = load_u32(length);
  if (size > kLinkFrameMax) {
    co_return fail(ErrorCode::mismatch,
                   "its message would have " + of_at_most(size, kLinkFrameMax));
  }
  std::vector<std::byte> body;
  while (body.size() < size) {
    const std::size_t have = body.size();
    body.resize(std::min(size, have + std::max(have, kFirstPiece)));
    const auto rest = std::span(body).subspan(have);
    const auto [broke, more] =
        co_await asio::async_read(socket_, asio::buffer(rest.data(), rest.size()), kAsTuple);
    if (broke) co_return std::unexpected(lost(broke));
  }
  co_return body;
}

void FramedSocket::close(Error why) {
  if (why_.message.empty()) why_ = std::move(why);
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace tutti
