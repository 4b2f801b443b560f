#include "relay/server.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <future>
#include <utility>

#include "base/start_thread.hpp"
#include "fabric/as_tuple.hpp"
#include "fabric/resolve.hpp"
#include "node/bootstrap/tcp_socket.hpp"

namespace tutti::relay {

using asio::ip::tcp;
using namespace std::chrono_literals;
using boost::system::error_code;

namespace {

// RV4. Samples come so much later at most.
constexpr auto kRestMax = 2ms;

}  // namespace

Server::Server(Backend& backend, dds::RelayOptions options)
    : backend_(backend), options_(std::move(options)) {
  limits_.frame_bytes_max = options_.frame_bytes_max;
  limits_.output_bytes_max = options_.memory_per_client;
  limits_.idle_ms = static_cast<std::uint32_t>(options_.idle_timeout / 1ms);
  limits_.token = options_.token;
}

Result<std::unique_ptr<Server>> Server::start(Backend& backend, dds::RelayOptions options) {
  if (const Result<void> valid = options.validate(); !valid) {
    return std::unexpected(valid.error());
  }
  std::unique_ptr<Server> server(new Server(backend, std::move(options)));
  if (const Result<void> listening = server->listen(); !listening) {
    return std::unexpected(listening.error());
  }
  // Before a client can ask for anything: no outcome is missed. What is told waits for the thread.
  backend.listen(server.get());
  Result<std::thread> thread =
      start_thread("the thread of a relay", [raw = server.get()] { raw->run(); });
  if (!thread) {
    backend.listen(nullptr);
    return std::unexpected(thread.error());
  }
  server->thread_ = std::move(*thread);
  return server;
}

Result<void> Server::listen() {
  // A member's address has a port; a relay may also take one that is free.
  std::string text = options_.listen;
  const bool any_port = text.ends_with(":0");
  if (any_port) text.back() = '1';
  Result<Endpoints> endpoints = resolve_now(context_, text);
  if (!endpoints) return std::unexpected(endpoints.error());
  if (any_port) endpoints->front().port(0);
  Result<UniqueFd> fd = listen_at(endpoints->front());
  if (!fd) {
    return fail(fd.error().code,
                "a relay cannot listen at " + options_.listen + ": " + fd.error().message);
  }
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  error_code error;
  tcp::endpoint bound = endpoints->front();
  if (::getsockname(fd->get(), reinterpret_cast<sockaddr*>(&storage), &size) == 0 &&
      size <= bound.capacity()) {
    std::memcpy(bound.data(), &storage, size);
    bound.resize(size);
  }
  const std::string host = bound.address().to_string();
  address_ =
      (bound.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(bound.port());
  listener_.assign(fd->get(), error);
  if (error) return fail(ErrorCode::system, error.message());
  (void)fd->release();
  return {};
}

Server::~Server() {
  if (!thread_.joinable()) return;
  backend_.listen(nullptr);
  asio::post(context_, [this] {
    over_ = true;
    error_code ignored;
    listener_.close(ignored);
    tick_.cancel();
    pause_.cancel();
    rest_.cancel();
    for (const auto& [raw, peer] : peers_) peer->end(Code::stopped, "the relay stops");
    // What the clients read within a moment is said; then it ends in any case.
    tick_.expires_after(200ms);
    tick_.async_wait([this](const error_code&) { context_.stop(); });
    if (peers_.empty()) context_.stop();
  });
  thread_.join();
}

void Server::run() {
  asio::co_spawn(context_, accept_all(), asio::detached);
  asio::co_spawn(context_, watch(), asio::detached);
  while (!context_.stopped()) {
    try {
      context_.run();
    } catch (const std::exception& problem) {  // no memory: what follows may have some
      log(std::string("a relay goes on without what failed: ") + problem.what());
    }
  }
}

// The relay goes on, whatever the application's function does.
void Server::log(const std::string& text) const {
  try {
    if (options_.log) options_.log(text);
  } catch (...) {
    return;
  }
}

asio::awaitable<void> Server::accept_all() {
  while (!over_) {
    const auto [error] =
        co_await listener_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
    if (error) co_return;
    UniqueFd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      log("a relay cannot accept a client: no descriptor or memory is free, see ulimit -n");
      // The connection waits in the queue; the relay must not spin on it.
      pause_.expires_after(50ms);
      (void)co_await pause_.async_wait(kAsTuple);
    }
    if (!fd) continue;
    error_code refused;
    tcp::socket socket = adopt_socket(context_, std::move(fd), refused);
    if (refused) continue;
    ++statistics_.accepted;
    try {
      if (peers_.size() >= options_.clients_max) {  // RV3
        turn_away(std::move(socket));
      } else {
        admit(std::move(socket));
      }
    } catch (const std::bad_alloc&) {
      log("a relay has no memory for a client");  // which is hung up on
    }
  }
}

// One short write into an empty socket does not wait; if it cannot be made, nobody is told.
void Server::turn_away(tcp::socket socket) {
  ++statistics_.refused;
  std::vector<std::byte> bytes;
  encode(Bye{Code::busy, "the relay has " + std::to_string(options_.clients_max) +
                             " clients, as many as it may have; try another one, or later"},
         bytes);
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(bytes.data(), bytes.size()), ignored);
}

void Server::admit(tcp::socket socket) {
  if (half_open_.size() >= options_.half_open_max) {  // RV3
    Peer* const oldest = half_open_.front();
    half_open_.pop_front();
    ++statistics_.refused;
    oldest->end(Code::busy, "too many connections wait for their hello");
  }
  const auto peer = std::make_shared<Peer>(std::move(socket), backend_, limits_, options_,
                                           statistics_, static_cast<PeerOwner&>(*this));
  peers_.emplace(peer.get(), peer);
  half_open_.push_back(peer.get());
  peer->start();
}

void Server::welcomed(Peer& peer) { std::erase(half_open_, &peer); }

void Server::wants(Peer& peer, std::uint64_t nonce) {
  // Sessions that have ended since: a client may open any number of them, one after the other.
  std::erase_if(peer.wanted(), [&](std::uint64_t before) {
    if (before != nonce && peer.conversation().follows(before)) return false;
    forget(peer, before);
    return true;
  });
  wanted_.emplace(nonce, &peer);
  peer.wanted().push_back(nonce);
}

void Server::forget(Peer& peer, std::uint64_t nonce) {
  const auto [from, to] = wanted_.equal_range(nonce);
  const auto one = std::find_if(from, to, [&](const auto& entry) { return entry.second == &peer; });
  if (one != to) wanted_.erase(one);
}

void Server::awaits_member(Peer& peer, bool awaits) {
  if (awaits) {
    awaiting_.insert(&peer);
  } else {
    awaiting_.erase(&peer);
  }
}

void Server::gone(Peer& peer) {
  awaiting_.erase(&peer);
  std::erase(half_open_, &peer);
  for (const std::uint64_t nonce : peer.wanted()) forget(peer, nonce);
  peers_.erase(&peer);
  if (over_ && peers_.empty()) context_.stop();
}

// Time-outs are looked at now and then: a fraction of the shortest one.
asio::awaitable<void> Server::watch() {
  const auto every = std::clamp<std::chrono::nanoseconds>(
      std::min(options_.handshake_timeout, options_.idle_timeout) / 8, 5ms, 1s);
  while (!over_) {
    tick_.expires_after(every);
    const auto [cancelled] = co_await tick_.async_wait(kAsTuple);
    if (cancelled) co_return;
    const RelayClock::time_point now = RelayClock::now();
    try {
      look_at_all(now);
    } catch (const std::bad_alloc&) {
      log("a relay has no memory to look at its clients");  // the next look may have some
    }
  }
}

void Server::look_at_all(RelayClock::time_point now) {
  std::vector<std::shared_ptr<Peer>> late;
  for (const auto& [raw, peer] : peers_) {
    if (peer->is_late(now)) {
      late.push_back(peer);
    } else {
      peer->ping_if_quiet(now);
    }
  }
  for (const auto& peer : late) {
    peer->expel();
  }
  expire_sessions(now);
  // Nobody tells of topics that were deleted, and of a node that has ended.
  {
    const std::scoped_lock lock(mutex_);
    looks_ = true;
  }
  hear();
}

void Server::expire_sessions(RelayClock::time_point now) {
  if (options_.session_idle == 0ns) return;
  if (now - looked_at_sessions_ <
      std::min<std::chrono::nanoseconds>(options_.session_idle / 4, 1min)) {
    return;
  }
  looked_at_sessions_ = now;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Seen> seen;
  for (const Backend::Idle& one : backend_.sessions()) {
    const std::pair key(one.bundle, one.session);
    const auto before = seen_.find(key);
    const bool moved = before == seen_.end() || before->second.touched != one.touched;
    const Seen now_seen{one.touched, moved ? now : before->second.since};
    seen.emplace(key, now_seen);
    if (now - now_seen.since < options_.session_idle) continue;
    // Without space it is tried again at the next look.
    (void)backend_.post(one.bundle, dds::SessionExpire{one.session, one.last});
  }
  seen_ = std::move(seen);
}

void Server::on_outcome(std::uint32_t bundle, const dds::SessionOutcome& outcome) {
  const std::scoped_lock lock(mutex_);
  outcomes_.emplace_back(bundle, outcome);
  if (!std::exchange(told_, true)) asio::post(context_, [this] { hear(); });
}

void Server::on_space() {
  const std::scoped_lock lock(mutex_);
  space_ = true;
  hear_later();
}

void Server::on_data() {
  const std::scoped_lock lock(mutex_);
  looks_ = true;
  hear_later();
}

// With the mutex.
void Server::hear_later() {
  if (!std::exchange(told_, true)) asio::post(context_, [this] { hear(); });
}

void Server::hear() {
  std::vector<std::pair<std::uint32_t, dds::SessionOutcome>> outcomes;
  bool looks = false;
  bool space = false;
  {
    const std::scoped_lock lock(mutex_);
    outcomes.swap(outcomes_);
    told_ = false;
    space = std::exchange(space_, false);
    looks = looks_ && may_look();
    if (looks) looks_ = false;
  }
  const RelayClock::time_point begin = RelayClock::now();
  if (looks) backend_.look();
  to_wake_.clear();
  for (const auto& [bundle, outcome] : outcomes) {
    const auto [from, to] = wanted_.equal_range(outcome.nonce);
    for (auto one = from; one != to; ++one) {
      one->second->conversation().outcome(bundle, outcome);
      to_wake_.push_back(one->second);
    }
  }
  // RV2. A peer goes from peers_ only later, in a turn of its own.
  for (Peer* const peer : awaiting_) {
    if (looks || (space && peer->conversation().waits_for_member())) to_wake_.push_back(peer);
  }
  std::ranges::sort(to_wake_);
  to_wake_.erase(std::ranges::unique(to_wake_).begin(), to_wake_.end());
  for (Peer* const peer : to_wake_) peer->wake();
  if (!looks) return;
  const RelayClock::time_point end = RelayClock::now();
  next_look_ = end + std::min<RelayClock::duration>(end - begin, kRestMax);
}

// RV4. It hears again once it may.
bool Server::may_look() {
  const RelayClock::time_point now = RelayClock::now();
  if (now >= next_look_) return true;
  if (std::exchange(rests_, true)) return false;
  rest_.expires_at(next_look_);
  rest_.async_wait([this](const error_code&) {
    rests_ = false;
    if (!over_) hear();
  });
  return false;
}

dds::RelayStatistics Server::statistics() {
  std::promise<dds::RelayStatistics> answer;
  asio::post(context_, [&] {
    dds::RelayStatistics now = statistics_;
    now.clients = peers_.size();
    answer.set_value(now);
  });
  return answer.get_future().get();
}

}  // namespace tutti::relay
