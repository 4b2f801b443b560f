/// \file listen.cpp
/// Our own address: opened once, then everyone who calls is let in, a bounded number at a time.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "base/system_error.hpp"
#include "fabric/as_tuple.hpp"
#include "fabric/host.hpp"
#include "fabric/resolve.hpp"
#include "node/bootstrap/handshakes.hpp"
#include "node/bootstrap/tcp_socket.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kUnclaimedMax = 64;

// What a member needs to be connected, beyond its call: sockets, its row, its doorbell. Strangers
// must leave so many.
constexpr std::size_t kSpareDescriptors = 16;

// How many of them there are not.
std::size_t lacking_descriptors(int any) {
  std::array<UniqueFd, kSpareDescriptors> spare;
  std::size_t lacking = spare.size();
  for (UniqueFd& one : spare) {
    one = duplicate(any);
    if (!one) break;
    --lacking;
  }
  return lacking;
}

std::string describe_remote(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return "a connection that is gone";
  const std::string host = remote.address().to_string();
  return (remote.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(remote.port());
}

}  // namespace

Result<void> Handshakes::listen() {
  const std::string& address = member(self_).address;
  const Result<std::vector<tcp::endpoint>> endpoints = resolve_now(context_, address);
  Result<void> opened = fail(ErrorCode::system, "no address");
  if (!endpoints) opened = std::unexpected(endpoints.error());
  for (std::size_t i = 0; endpoints && i < endpoints->size() && !opened; ++i) {
    opened = open_listener((*endpoints)[i]);
  }
  if (opened) return opened;
  return fail(ErrorCode::system, "cannot listen at " + address + ", the address of " + base_.name +
                                     " (this member): " + opened.error().message);
}

Result<void> Handshakes::open_listener(const tcp::endpoint& endpoint) {
  Result<UniqueFd> fd = listen_at(endpoint);
  if (!fd) return std::unexpected(fd.error());
  error_code error;
  listener_.assign(fd->get(), error);
  if (error) return fail(ErrorCode::system, error.message());
  (void)fd->release();
  return {};
}

asio::awaitable<void> Handshakes::accept_all() {
  asio::steady_timer pause(context_);
  while (!over_) {
    const auto [error] =
        co_await listener_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
    if (error) co_return;
    UniqueFd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int failed = fd ? 0 : errno;
    std::string problem;
    if (spare_descriptors(failed == EMFILE || failed == ENFILE) && !fd) continue;
    if (fd) {
      try {
        admit(std::move(fd));
      } catch (const std::exception& what) {  // no memory
        problem = what.what();
      }
    } else if (failed != EAGAIN && failed != EWOULDBLOCK && failed != EINTR &&
               failed != ECONNABORTED) {
      problem =
          lacks_descriptors(failed) ? kFreeDescriptors : std::system_category().message(failed);
    }
    if (problem.empty()) continue;
    // Out of descriptors or memory: the connection waits in the queue, we must not spin on it.
    warn("accept", "cannot accept a connection: " + problem);
    pause.expires_after(50ms);
    const auto [cancelled] = co_await pause.async_wait(kAsTuple);
    if (cancelled) co_return;
  }
}

// Closes the oldest strangers until members have the descriptors that they need; if strangers do
// not have so many, it is not for them that there are few, and among them may be members in their
// handshake: none goes. `full`: none could be had at all, so one goes in any case. True if one was
// closed.
bool Handshakes::spare_descriptors(bool full) {
  std::size_t lacking = lacking_descriptors(listener_.native_handle());
  std::size_t held = 0;
  for (const LinkPtr& link : unclaimed_) held += link->descriptors();
  const bool enough = lacking <= held;
  bool closed = false;
  while ((full && !closed) || (enough && lacking != 0)) {
    if (!make_room("hardly any descriptor is free, see ulimit -n")) break;
    closed = true;
    lacking = lacking_descriptors(listener_.native_handle());
  }
  return closed;
}

// Closes the oldest connection that is no member's yet, and not `but`; false if there is none. A
// member calls again.
bool Handshakes::make_room(const std::string& why, const LinkPtr& but) {
  if (unclaimed_.empty() || unclaimed_.front() == but) return false;
  const LinkPtr oldest = unclaimed_.front();
  warn("crowd", "closing " + oldest->where() + ": " + why);
  unclaimed_.pop_front();
  oldest->close();  // its coroutine ends and drops it
  return true;
}

void Handshakes::admit(UniqueFd fd) {
  if (unclaimed_.size() >= kUnclaimedMax) {
    make_room(std::to_string(kUnclaimedMax) + " connections wait that are no member's");
  }
  error_code error;
  tcp::socket socket = adopt_socket(context_, std::move(fd), error);
  if (error) return;
  const std::string where = describe_remote(socket);
  auto link = std::make_shared<Link>(context_, std::move(socket), where);
  links_.push_back(link);
  unclaimed_.push_back(link);
  spawn(serve(std::move(link), std::nullopt));
}

// Peers may call by a carrier's own means, too.
Result<void> Handshakes::watch_calls(Carrier& carrier) {
  if (carrier.calls_fd() < 0) return {};
  UniqueFd fd = duplicate(carrier.calls_fd());
  asio::posix::stream_descriptor calls(context_);
  error_code error;
  if (fd) calls.assign(fd.get(), error);
  if (!fd || error) {
    return fail_system("cannot watch for calls by " + std::string(carrier.kind().label));
  }
  (void)fd.release();
  spawn(take_calls(carrier, std::move(calls)));
  return {};
}

asio::awaitable<void> Handshakes::take_calls(Carrier& carrier,
                                             asio::posix::stream_descriptor calls) {
  while (!over_) {
    const auto [error] =
        co_await calls.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
    if (error) co_return;
    for (std::string& refused : carrier.take_calls()) {
      warn(std::string(carrier.kind().name), std::move(refused));
    }
  }
}

}  // namespace tutti
