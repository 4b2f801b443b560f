#include "relay/peer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <utility>

#include "fabric/as_tuple.hpp"

namespace tutti::relay {
namespace {

constexpr std::size_t kReadBytes = 16384;
// Of what is to be written at once, so that a client that reads gives a sign of life in between.
constexpr std::size_t kWriteBytes = 65536;
// How long a client that is late may take to read why it is disconnected.
constexpr std::chrono::milliseconds kLastWords{200};

}  // namespace

Peer::Peer(asio::ip::tcp::socket socket, Backend& backend, const ConversationLimits& limits,
           const dds::RelayOptions& options, dds::RelayStatistics& statistics, PeerOwner& owner)
    : socket_(std::move(socket)),
      conversation_(backend, limits),
      limits_(limits),
      options_(options),
      statistics_(statistics),
      owner_(owner),
      reads_on_(socket_.get_executor(), RelayClock::time_point::max()),
      writes_on_(socket_.get_executor(), RelayClock::time_point::max()),
      deadline_(RelayClock::now() + options.handshake_timeout),
      publishes_left_(options.publishes_per_second),
      refilled_(RelayClock::now()) {}

void Peer::start() {
  coroutines_ = 2;
  const auto run = [self = shared_from_this()](asio::awaitable<void> work) {
    asio::co_spawn(self->socket_.get_executor(), std::move(work),
                   [self](const std::exception_ptr&) { self->coroutine_ended(); });
  };
  run(read());
  run(write());
}

void Peer::wake() {
  pump();
  flush();
  if (reader_pauses_) reads_on_.cancel();
}

// Here, not by the writer: a turn of a coroutine costs more than most writes. The writer goes on
// with what the socket does not take now.
void Peer::flush() {
  const bool was_full = conversation_.is_full();
  if (!send_now() || has_unsent() || conversation_.ended()) {
    writes_on_.cancel();
  } else if (was_full) {
    wake_later();
  }
}

void Peer::pump() {
  conversation_.pump();
  note_interest();
  if (conversation_.wants_pump()) wake_later();
}

// What has more to look at gets another turn behind what else there is to do.
void Peer::wake_later() {
  if (std::exchange(wakes_later_, true)) return;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->wakes_later_ = false;
    self->wake();
  });
}

void Peer::note_interest() {
  const bool awaits = conversation_.awaits_member();
  if (std::exchange(awaits_member_, awaits) != awaits) owner_.awaits_member(*this, awaits);
}

bool Peer::is_late(RelayClock::time_point now) {
  if (conversation_.waits_for_member()) alive(now);  // the bundle holds it back
  if (now < deadline_) return suspected_ = false;
  return std::exchange(suspected_, true);
}

// That the socket takes a ping is no sign of life of the client.
void Peer::ping_if_quiet(RelayClock::time_point now) {
  if (!conversation_.is_welcome() || conversation_.ended() || has_unsent()) return;
  if (now - said_at_ < options_.idle_timeout / 4) return;
  const RelayClock::time_point deadline = deadline_;
  conversation_.ping();
  flush();
  deadline_ = deadline;
}

void Peer::end(Code code, const std::string& text) {
  conversation_.end(code, text);
  wake();
}

void Peer::expel() {
  if (conversation_.ended()) return close();
  ++statistics_.timed_out;
  deadline_ = RelayClock::now() + kLastWords;
  end(Code::idle, conversation_.is_welcome()
                      ? "nothing was heard of the client, or read by it, for too long"
                      : "no hello came in time");
}

// Bytes alone are none before hello: a client could send one now and then for ever.
void Peer::alive(RelayClock::time_point now) {
  if (conversation_.is_welcome()) deadline_ = now + options_.idle_timeout;
}

asio::awaitable<void> Peer::read() {
  std::array<std::byte, kReadBytes> received;
  while (!conversation_.ended()) {
    if (!conversation_.may_receive() || !may_publish()) {
      co_await pause();
      continue;
    }
    if (take_frame()) continue;
    if (conversation_.ended()) break;
    flush();
    const auto [error, size] =
        co_await socket_.async_read_some(asio::buffer(received.data(), received.size()), kAsTuple);
    if (error) break;
    alive(RelayClock::now());
    reader_.append(std::span(received).first(size));
  }
  if (!conversation_.ended()) conversation_.receive(Bye{});
  writes_on_.cancel();
}

// Until it is woken, or the rate allows another publish.
asio::awaitable<void> Peer::pause() {
  flush();
  const bool rate = conversation_.may_receive();
  reads_on_.expires_at(rate ? RelayClock::now() + std::chrono::milliseconds(10)
                            : RelayClock::time_point::max());
  reader_pauses_ = true;
  (void)co_await reads_on_.async_wait(kAsTuple);
  reader_pauses_ = false;
}

bool Peer::may_publish() {
  if (options_.publishes_per_second == 0) return true;
  const RelayClock::time_point now = RelayClock::now();
  const std::chrono::duration<double> passed = now - std::exchange(refilled_, now);
  const double rate = options_.publishes_per_second;
  publishes_left_ = std::min(rate, publishes_left_ + passed.count() * rate);
  return publishes_left_ >= 1;
}

// False: there is no whole frame yet.
bool Peer::take_frame() {
  const Result<std::optional<Frame>> frame = reader_.next();
  if (!frame) {
    ++statistics_.malformed;
    conversation_.end(Code::malformed, frame.error().message);
    return true;
  }
  if (!*frame) return false;
  ++statistics_.frames_in;
  // Each of them is a record in a bundle.
  const bool is_record = std::holds_alternative<Publish>(**frame) ||
                         std::holds_alternative<Open>(**frame) ||
                         std::holds_alternative<Close>(**frame);
  if (is_record && options_.publishes_per_second != 0) publishes_left_ -= 1;
  const bool was_welcome = conversation_.is_welcome();
  conversation_.receive(**frame);
  // So is the question whether the member is behind.
  if (conversation_.is_finding() && options_.publishes_per_second != 0) publishes_left_ -= 1;
  if (conversation_.wants_pump()) pump();
  note_interest();
  if (const auto* const open = std::get_if<Open>(&**frame);
      open != nullptr && conversation_.follows(open->nonce)) {
    owner_.wants(*this, open->nonce);
  }
  if (!was_welcome && conversation_.is_welcome()) {
    reader_.set_max(limits_.frame_bytes_max);
    alive(RelayClock::now());
    owner_.welcomed(*this);
  } else if (!was_welcome) {
    ++statistics_.refused;
  }
  return true;
}

// As much as the socket takes. False: the connection has ended.
bool Peer::send_now() {
  while (!closed_) {
    if (!has_unsent()) {
      writing_.clear();
      sent_ = 0;
      std::swap(writing_, conversation_.output());
      conversation_.set_sending(writing_.size());
      if (writing_.empty()) return true;
    }
    const std::size_t size = std::min(kWriteBytes, writing_.size() - sent_);
    const ssize_t written =
        ::send(socket_.native_handle(), writing_.data() + sent_, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    sent_ += static_cast<std::size_t>(written);
    statistics_.bytes_out += static_cast<std::uint64_t>(written);
    conversation_.set_sending(writing_.size() - sent_);
    said_at_ = RelayClock::now();
    alive(said_at_);
  }
  return false;
}

asio::awaitable<void> Peer::write() {
  bool was_full = false;
  for (;;) {
    was_full |= conversation_.is_full();
    if (!send_now()) {
      conversation_.receive(Bye{});
      break;
    }
    if (has_unsent()) {
      const auto [error] = co_await socket_.async_wait(asio::socket_base::wait_write, kAsTuple);
      was_full = true;
      if (!error) continue;
      conversation_.receive(Bye{});
      break;
    }
    if (std::exchange(was_full, false)) {
      // There is room again: for samples, and for frames that would have given more output.
      pump();
      reads_on_.cancel();
      continue;
    }
    if (conversation_.ended()) break;
    writes_on_.expires_at(RelayClock::time_point::max());
    (void)co_await writes_on_.async_wait(kAsTuple);
  }
  close();
}

void Peer::close() {
  if (std::exchange(closed_, true)) return;
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  socket_.close(ignored);
  reads_on_.cancel();
  writes_on_.cancel();
}

void Peer::coroutine_ended() {
  if (--coroutines_ > 0) {
    // The other one sees that it is over.
    if (!conversation_.ended()) conversation_.end(Code::stopped, "the relay is out of memory");
    writes_on_.cancel();
    reads_on_.cancel();
    return;
  }
  close();
  owner_.gone(*this);
}

}  // namespace tutti::relay
