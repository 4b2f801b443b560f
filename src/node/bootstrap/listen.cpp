/// \file listen.cpp
/// Our own address: opened once, then everyone who calls is let in, a bounded number at a time.
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "node/bootstrap/fd_passing.hpp"
#include "node/bootstrap/host.hpp"
#include "node/bootstrap/meeting.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kHalfOpenMax = 64;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

std::string describe_remote(const tcp::socket& socket) {
  error_code error;
  const tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return "a connection that is gone";
  const std::string host = remote.address().to_string();
  return (remote.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(remote.port());
}

}  // namespace

asio::awaitable<void> Meeting::listen() {
  const std::string& address = member(rank_).address;
  const auto endpoints = co_await resolve(address);
  if (over()) co_return;
  Result<void> opened = tutti::fail(ErrorCode::system, "no address");
  if (!endpoints) opened = std::unexpected(endpoints.error());
  for (std::size_t i = 0; endpoints && i < endpoints->size() && !opened; ++i) {
    opened = open_listener((*endpoints)[i]);
  }
  if (!opened) {
    fail({ErrorCode::system, "cannot listen at " + address + ", the address of " + base_.name +
                                 " (this member): " + opened.error().message});
    co_return;
  }
  for (std::uint32_t rank = 0; rank < rank_; ++rank) {
    asio::co_spawn(context_, dial(rank), asio::detached);
  }
  co_await accept_all();
}

Result<void> Meeting::open_listener(const tcp::endpoint& endpoint) {
  const auto refused = [](int error) {
    std::string text = std::system_category().message(error);
    if (error == EADDRINUSE) text += "; end the process that uses it, or take another port";
    return tutti::fail(ErrorCode::system, text);
  };
  UniqueFd fd(::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return refused(errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return refused(errno);
  }
  error_code error;
  listener_.assign(fd.get(), error);
  if (error) return tutti::fail(ErrorCode::system, error.message());
  (void)fd.release();
  return {};
}

asio::awaitable<void> Meeting::accept_all() {
  asio::steady_timer pause(context_);
  while (!over()) {
    const auto [error] =
        co_await listener_.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
    if (error) co_return;
    UniqueFd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) {
      admit(std::move(fd));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED)
      continue;
    // Out of descriptors or memory: the connection waits in the queue, we must not spin on it.
    warn_of_stranger("cannot accept a connection: " + std::system_category().message(errno));
    pause.expires_after(50ms);
    const auto [cancelled] = co_await pause.async_wait(kAsTuple);
    if (cancelled) co_return;
  }
}

void Meeting::admit(UniqueFd fd) {
  if (half_open_.size() >= kHalfOpenMax) {
    const LinkPtr oldest = half_open_.front();
    warn_of_stranger("closing " + oldest->where() + ": " + std::to_string(kHalfOpenMax) +
                     " connections wait without having said hello");
    half_open_.pop_front();
    oldest->close();  // its coroutine ends and drops it
  }
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&storage), &size) != 0) return;
  tcp::socket socket(context_);
  error_code error;
  socket.assign(storage.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd.get(), error);
  if (error) return;
  (void)fd.release();
  socket.set_option(tcp::no_delay(true), error);
  const std::string where = describe_remote(socket);
  auto link = std::make_shared<Link>(context_, std::move(socket), where);
  links_.push_back(link);
  half_open_.push_back(link);
  asio::co_spawn(context_, receive(std::move(link)), asio::detached);
}

asio::awaitable<void> Meeting::receive(LinkPtr link) {
  std::string unix_name;
  if (base_.fabric != FabricChoice::tcp) {
    // A name of its own for every connection: whoever comes there was told by us.
    const Result<std::string> name = random_socket_name();
    Result<UniqueFd> listener = name ? listen_abstract(*name) : std::unexpected(name.error());
    if (listener) {
      unix_name = *name;
      link->watch(std::move(*listener));
    }
  }
  co_await welcome(link, unix_name);
  drop(link);
}

}  // namespace tutti
