// Connections: to one relay after the other.
#include "client/core.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "base/start_thread.hpp"

namespace tutti::client {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = 65536;
// A relay takes frames of at most so many bytes; what it says is as large at most.
constexpr std::uint32_t kFrameMax = 17U << 20;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (number == 0 || number == relay::kNone) {
    if (::getrandom(&number, sizeof number, 0) != sizeof number) number = 0;
  }
  return number;
}

}  // namespace

Core::Core(Options options) : options_(std::move(options)) {
  machine_.emplace(Machine::Identity{.high = random_number(),
                                     .low = random_number(),
                                     .name = options_.name,
                                     .token = options_.token},
                   random_number, static_cast<MachineEvents&>(*this));
}

Result<std::shared_ptr<Core>> Core::start(Options options) {
  if (const Result<void> valid = options.validate(); !valid) {
    return std::unexpected(valid.error());
  }
  std::shared_ptr<Core> core(new Core(std::move(options)));
  Result<std::thread> thread =
      start_thread("the thread of a client", [raw = core.get()] { raw->run(); });
  if (!thread) return std::unexpected(thread.error());
  core->thread_ = std::move(*thread);
  return core;
}

Core::~Core() { stop(); }

void Core::run() {
  asio::co_spawn(context_, stay_connected(), asio::detached);
  while (!context_.stopped()) {
    try {
      context_.run();
    } catch (const std::exception& problem) {  // no memory: what follows may have some
      log(std::string("the client goes on without what failed: ") + problem.what());
    }
  }
  // Nobody else has it any more, perhaps: then it ends with this function.
  const std::shared_ptr<Core> last = std::move(own_);
  if (last != nullptr) thread_.detach();
}

void Core::stop() {
  if (!thread_.joinable()) return;
  const bool in_callback = is_own_thread();
  if (in_callback) {
    if (own_ != nullptr) return;
    own_ = shared_from_this();
  }
  {
    const std::scoped_lock lock(posting_);
    over_ = true;
    // By way of the own thread: Asio puts what a handler has posted behind what other threads
    // posted meanwhile, so that end() would come before what a callback asked for.
    asio::post(context_, [this] { asio::post(context_, [this] { end(); }); });
  }
  if (!in_callback) thread_.join();
}

void Core::end() {
  machine_->close();
  error_code ignored;
  // The socket is empty, mostly: what is closed then needs not expire.
  if (!writing_ && !machine_->output().empty()) {
    socket_.non_blocking(true, ignored);
    socket_.write_some(asio::buffer(machine_->output()), ignored);
  }
  for (auto& [publication, answered] : std::exchange(answers_, {})) {
    const Published ended{.outcome = Published::Outcome::unknown, .text = "the client ended"};
    if (answered) call(answered, ended);
  }
  for (auto& [name, all] : std::exchange(finding_, {})) {
    for (const auto& [waiter, told] : all) told(fail(ErrorCode::stopped, "the client ended"));
  }
  for (auto& [request, waits] : std::exchange(listing_, {})) {
    waits.first(fail(ErrorCode::stopped, "the client ended"));
  }
  socket_.close(ignored);
  context_.stop();
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, inbox] : inboxes_) {
    const std::scoped_lock inner(inbox->mutex);
    inbox->ended = true;
    inbox->changed.notify_all();
  }
}

void Core::log(const std::string& text) const {
  try {
    if (options_.log) options_.log(text);
  } catch (...) {
    return;
  }
}

asio::awaitable<void> Core::stay_connected() {
  Pauses pauses;
  for (std::size_t next = 0; !over_; ++next) {
    const std::string& relay = options_.relays[next % options_.relays.size()];
    welcome_at_.reset();
    std::string why;
    try {
      why = co_await converse(relay);
    } catch (const std::exception& problem) {  // no memory: the next connection may have some
      why = problem.what();
    }
    connected_ = false;
    error_code ignored;
    socket_.close(ignored);
    deadline_.cancel();
    alive_.cancel();
    leave_.cancel();
    writing_ = leaves_ = false;
    ++connections_;
    machine_->disconnected();
    for (auto& [request, found] : listing_) found.second.clear();  // told from the beginning again
    std::string trouble = relay;
    trouble.append(": ").append(why);
    log("not connected to " + trouble);
    {
      const std::scoped_lock lock(mutex_);
      trouble_ = std::move(trouble);
    }
    std::optional<std::chrono::nanoseconds> stood;
    if (welcome_at_) stood = std::chrono::steady_clock::now() - *welcome_at_;
    pause_.expires_after(pauses.next(stood));
    (void)co_await pause_.async_wait(kTuple);
  }
}

// Why it ended.
asio::awaitable<std::string> Core::converse(const std::string& relay) {
  const std::uint64_t connection = connections_;
  why_.clear();
  deadline_.expires_after(options_.connect_timeout);
  deadline_.async_wait([this, connection](const error_code& error) {
    if (!error && connection == connections_) hang_up("it did not answer in time");
  });
  std::string problem = co_await connect(relay);
  if (!problem.empty()) co_return why_.empty() ? problem : why_;
  machine_->connected();
  flush();
  relay::FrameReader reader(kFrameMax);
  std::vector<std::byte> received(kReadBytes);
  while (why_.empty()) {
    Result<std::optional<relay::Frame>> frame = reader.next();
    if (!frame) co_return frame.error().message;
    if (*frame) {
      machine_->receive(**frame);
      flush();
      ask_later();
      continue;
    }
    const auto [error, size] = co_await socket_.async_read_some(asio::buffer(received), kTuple);
    if (error) co_return why_.empty() ? error.message() : why_;
    ++heard_;
    reader.append(std::span(received).first(size));
  }
  co_return why_;
}

// Empty: connected.
asio::awaitable<std::string> Core::connect(const std::string& relay) {
  const std::size_t colon = relay.rfind(':');
  std::string host = relay.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto [unknown, endpoints] =
      co_await resolver_.async_resolve(host, relay.substr(colon + 1), kTuple);
  if (unknown) co_return unknown.message();
  if (!why_.empty()) co_return why_;  // it took too long
  socket_ = tcp::socket(context_);
  const auto [error, endpoint] = co_await asio::async_connect(socket_, endpoints, kTuple);
  if (error) co_return error.message();
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  co_return std::string();
}

void Core::flush() {
  if (writing_ || machine_->output().empty() || !socket_.is_open()) return;
  writing_ = true;
  asio::co_spawn(context_, write_all(connections_), asio::detached);
}

asio::awaitable<void> Core::write_all(std::uint64_t connection) {
  std::vector<std::byte> writing;
  while (connection == connections_ && !machine_->output().empty()) {
    writing.clear();
    std::swap(writing, machine_->output());
    const auto [error, size] = co_await asio::async_write(socket_, asio::buffer(writing), kTuple);
    if (error) break;  // the reader sees it, too
  }
  if (connection == connections_) writing_ = false;
}

asio::awaitable<void> Core::keep_alive(std::uint64_t connection) {
  std::uint64_t before = heard_;
  std::uint32_t silent = 0;
  while (connection == connections_) {
    alive_.expires_after(std::chrono::milliseconds(std::max(idle_ms_ / 4, 1U)));
    const auto [cancelled] = co_await alive_.async_wait(kTuple);
    if (cancelled || connection != connections_) co_return;
    silent = heard_ == std::exchange(before, heard_) ? silent + 1 : 0;
    if (silent >= 4) co_return hang_up("the relay says nothing any more");
    machine_->ping();
    flush();
  }
}

void Core::ask_later() {
  if (asks_later_ || !machine_->has_late()) return;
  asks_later_ = true;
  again_.expires_after(finds_again_.next(std::nullopt));
  again_.async_wait([this](const error_code& error) {
    if (error) return;  // the next ask_later() took its place
    asks_later_ = false;
    machine_->ask_again();
    flush();
  });
}

void Core::hang_up(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  error_code ignored;
  resolver_.cancel();
  socket_.close(ignored);
}

void Core::on_welcome(const relay::Welcome& welcome) {
  deadline_.cancel();
  welcome_at_ = std::chrono::steady_clock::now();
  connected_ = true;
  finds_again_ = {};
  asks_later_ = false;  // what again_ waits for is of the connection before, and up to 2 s ahead
  idle_ms_ = welcome.idle_ms;
  log("connected to the relay of " + welcome.relay);
  asio::co_spawn(context_, keep_alive(connections_), asio::detached);
}

// The client stays for a while, longer each time: this relay still serves its subscriptions, and
// the others may be gone.
void Core::on_no_session(const std::string& why) {
  if (std::exchange(leaves_, true)) return;
  leave_.expires_after(stays_.next(std::nullopt));
  leave_.async_wait([this, why, connection = connections_](const error_code& error) {
    if (!error && connection == connections_) hang_up(why);
  });
}

void Core::on_bye(relay::Code, const std::string& text) {
  hang_up(text.empty() ? "the relay said goodbye" : text);
}

}  // namespace tutti::client
