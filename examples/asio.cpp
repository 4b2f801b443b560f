// One event loop, Boost.Asio, for a group and for a TCP server: each line that a client sends is
// sent to the group, and each message of the group is printed. In three terminals (a, b and c, each
// with another PORT for its clients):
//
//   asio a a=127.0.0.1:7001,b=127.0.0.1:7002,c=127.0.0.1:7003 8001
//   nc 127.0.0.1 8001
//
// SIGTERM and Ctrl-C: a member sends no more; it ends once all members were told so.
// docs/event-loops.md explains each step.
#include <boost/asio.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "tutti/tutti.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

int complain(const std::string& message) {
  std::fprintf(stderr, "asio: %s\n", message.c_str());
  return 1;
}

std::vector<tutti::MemberAddress> members_from(const std::string& list) {
  std::vector<tutti::MemberAddress> members;
  std::istringstream words(list);
  for (std::string name, address; std::getline(words, name, '=');) {
    if (std::getline(words, address, ',')) members.push_back({name, address});
  }
  return members;
}

// The descriptor is the group's: Asio must let go of it and not close it.
struct Readable {
  Readable(const asio::any_io_executor& loop, int fd) : descriptor(loop, fd) {}
  ~Readable() { descriptor.release(); }
  asio::posix::stream_descriptor descriptor;
};

// Prints batches until nothing comes any more; `why` says why not.
asio::awaitable<void> serve_group(tutti::Group& group, int fd, std::optional<tutti::Error>& why) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  Readable readable(loop, fd);
  for (;;) {
    co_await readable.descriptor.async_wait(asio::posix::descriptor_base::wait_read, kAsTuple);
    const tutti::Result<tutti::Batch> batch = group.take();  // it may be empty
    if (!batch) {
      why = batch.error();
      co_return;
    }
    for (const tutti::Message& message : *batch) {
      std::printf("%llu %s %.*s\n", static_cast<unsigned long long>(message.seq.value),
                  group.name_of(message.sender).data(), static_cast<int>(message.size),
                  message.text().data());
    }
    std::fflush(stdout);
  }
}

// Waits for space in a full window. The handler of Group::on_space runs on a thread of the library,
// which hands the space to the loop. A call that waits would wait for ever: there is more only once
// messages were taken, and this thread takes them.
asio::awaitable<tutti::Result<tutti::Claim>> space(tutti::Group& group, std::uint32_t size) {
  struct Answer {
    asio::steady_timer come;  // cancelled once there is one
    std::optional<tutti::Result<tutti::Claim>> space{};
  };
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  const auto answer =
      std::make_shared<Answer>(asio::steady_timer(loop, asio::steady_timer::time_point::max()));
  const auto hand_over = [loop, answer](tutti::Result<tutti::Claim> space) {
    asio::post(loop, [answer, space = std::move(space)]() mutable {
      answer->space = std::move(space);
      answer->come.cancel();
    });
  };
  if (auto asked = group.on_space(size, hand_over); !asked)
    co_return std::unexpected(asked.error());
  while (!answer->space) co_await answer->come.async_wait(kAsTuple);
  co_return std::move(*answer->space);
}

asio::awaitable<bool> send_line(tutti::Group& group, std::string_view line) {
  const auto size = static_cast<std::uint32_t>(line.size());
  tutti::Claim claim = group.try_claim(size);
  if (claim.outcome() == tutti::ClaimOutcome::full) {
    tutti::Result<tutti::Claim> come = co_await space(group, size);
    if (come) claim = std::move(*come);
  }
  if (!claim) co_return false;
  std::memcpy(claim.data(), line.data(), line.size());
  group.commit(std::move(claim));
  co_return true;
}

asio::awaitable<void> serve_client(tcp::socket client, tutti::Group& group) {
  constexpr std::size_t kLineMax = 60'000;
  std::string text;
  for (;;) {
    const auto [error, size] = co_await asio::async_read_until(
        client, asio::dynamic_buffer(text, kLineMax), '\n', kAsTuple);
    if (error) co_return;  // the client has gone, or sends what is no line
    if (!co_await send_line(group, std::string_view(text).substr(0, size - 1))) co_return;
    text.erase(0, size);
  }
}

asio::awaitable<void> accept_clients(tcp::acceptor acceptor, tutti::Group& group) {
  for (;;) {
    auto [error, client] = co_await acceptor.async_accept(kAsTuple);
    if (error) co_return;
    asio::co_spawn(acceptor.get_executor(), serve_client(std::move(client), group), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return complain("usage: asio NAME a=HOST:PORT,b=HOST:PORT,... PORT"), 2;
  asio::io_context loop(1);  // before the node, whose handlers use it until the node ends
  auto node = tutti::Node::create({.name = argv[1],
                                   .members = members_from(argv[2]),
                                   .suspect_after = 20s});  // a busy host may hold one up
  if (!node) return complain(node.error().message);
  auto group = node->join({.name = "lines", .delivery = tutti::DeliveryThread::application});
  if (!group) return complain(group.error().message);
  const auto fd = group->event_fd();
  if (!fd) return complain(fd.error().message);
  if (auto started = node->start(); !started) return complain(started.error().message);

  std::optional<tutti::Error> why;
  try {
    const auto port = static_cast<asio::ip::port_type>(std::atoi(argv[3]));
    tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), port});
    asio::signal_set signals(loop, SIGINT, SIGTERM);
    signals.async_wait([&](auto, int) { group->finish(); });
    asio::co_spawn(loop, accept_clients(std::move(acceptor), *group), asio::detached);
    asio::co_spawn(loop, serve_group(*group, *fd, why),
                   [&](const std::exception_ptr&) { loop.stop(); });
    loop.run();
  } catch (const std::exception& problem) {
    return complain(std::string("cannot serve port ") + argv[3] + ": " + problem.what());
  }
  if (!why || why->code != tutti::ErrorCode::complete) {
    return complain(why ? why->message : "the loop has ended");
  }
  const auto stopped = node->stop(10s);  // all is delivered: this takes a moment
  return stopped ? 0 : complain(stopped.error().message);
}
