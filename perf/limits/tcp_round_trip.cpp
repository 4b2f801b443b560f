/// \file tcp_round_trip.cpp
/// Question: how long does a message take to a peer and back over raw TCP on loopback?
///
/// Set-up: two processes, one connection, TCP_NODELAY, the second echoes. Both wait in the same
/// way: `--wait spin`: recv and pause; `yield`: recv and sched_yield; `block`: asleep in recv;
/// `sleep`: asleep in epoll_wait. `--rate R`: R round trips a second, paced by clock_nanosleep; 0:
/// closed loop. `--cpus apart`: each on a CPU of its own; `same`: both on one; `free`: where the
/// scheduler puts them. The first tenth of the time is warm-up.
///
/// Unit: nanoseconds per round trip: p50, p90, p99, max.
///
/// Command: limit_tcp_round_trip --wait spin --size 64 --seconds 1
#include <sys/epoll.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "idle.hpp"
#include "json.hpp"
#include "loopback.hpp"
#include "processes.hpp"
#include "samples.hpp"

namespace limits {
namespace {

struct Options {
  std::string wait;
  std::string cpus;
  size_t size;
  int64_t rate;
  double seconds;
};

/// One end of the connection.
class End {
 public:
  End(const Options& options, int rank, int connection)
      : connection_(connection),
        message_(options.size, std::byte{0x5A}),
        idle_(options.wait == "yield" ? 0 : kSpinOnly),
        blocks_(options.wait == "block") {
    if (options.cpus != "free") pin_to_cpu(options.cpus == "apart" ? rank : 0);
    if (options.wait != "sleep") return;
    epoll_ = epoll_create1(0);
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, connection, &event) != 0) die("epoll");
  }

  void send_message() {
    for (size_t at = 0; at < message_.size();) {
      const ssize_t count = send(connection_, &message_[at], message_.size() - at, MSG_NOSIGNAL);
      if (count < 0) die("send");
      at += static_cast<size_t>(count);
    }
  }

  /// Waits for a whole message. Returns false if the peer has closed the connection instead.
  bool receive_message() {
    for (size_t at = 0; at < message_.size();) {
      if (epoll_ >= 0) wait_for_input();
      const int flags = blocks_ ? 0 : MSG_DONTWAIT;
      const ssize_t count = recv(connection_, &message_[at], message_.size() - at, flags);
      if (count == 0) return false;
      if (count > 0) {
        at += static_cast<size_t>(count);
      } else if (would_block()) {
        idle_.wait();
      } else {
        die("recv");
      }
    }
    return true;
  }

 private:
  void wait_for_input() const {
    epoll_event event;
    if (epoll_wait(epoll_, &event, 1, -1) < 0 && errno != EINTR) die("epoll_wait");
  }

  const int connection_;
  std::vector<std::byte> message_;
  Idle idle_;
  const bool blocks_;
  int epoll_ = -1;
};

int echo(const Options& options, int listener) {
  End end(options, 1, accept_from(listener));
  while (end.receive_message()) end.send_message();
  return 0;
}

Samples run_round_trips(const Options& options, End& end) {
  const auto all_ns = static_cast<int64_t>(options.seconds * kNsPerSecond);
  Samples samples(static_cast<size_t>(options.seconds * 500'000) + 1);
  const int64_t begin_ns = now_ns();
  int64_t sent_ns = begin_ns;
  for (int64_t i = 1; sent_ns - begin_ns < all_ns; ++i) {
    end.send_message();
    if (!end.receive_message()) die("the echo closed the connection");
    const int64_t received_ns = now_ns();
    if (sent_ns - begin_ns >= all_ns / 10) samples.add(received_ns - sent_ns);
    sent_ns = received_ns;
    if (options.rate == 0) continue;
    sleep_until(begin_ns + i * 1'000'000'000 / options.rate);
    sent_ns = now_ns();
  }
  samples.sort();
  return samples;
}

int ask(const Options& options, int listener) {
  End end(options, 0, connect_to(listener));
  const Samples samples = run_round_trips(options, end);
  return Json()
      .add("round_trip_ns_p50", samples.quantile(0.5))
      .add("round_trip_ns_p90", samples.quantile(0.9))
      .add("round_trip_ns_p99", samples.quantile(0.99))
      .add("round_trip_ns_max", samples.quantile(1))
      .add("round_trips", static_cast<int64_t>(samples.count()))
      .add("wait", options.wait)
      .add("cpus", options.cpus)
      .add("size", static_cast<int64_t>(options.size))
      .add("rate", options.rate)
      .print();
}

int run(int argc, char** argv) {
  Arguments arguments(argc, argv,
                      {{"wait", "spin", "spin, yield, block or sleep"},
                       {"cpus", "apart", "apart, same or free"},
                       {"size", "64", "bytes each way"},
                       {"rate", "0", "round trips per second, 0: as fast as they go"},
                       {"seconds", "1", "a tenth of it warm-up, the rest measured"}});
  Options options{};
  options.wait = arguments.choice("wait", {"spin", "yield", "block", "sleep"});
  options.cpus = arguments.choice("cpus", {"apart", "same", "free"});
  options.size = static_cast<size_t>(arguments.integer("size", 1, 1 << 20));
  options.rate = arguments.integer("rate", 0, 1'000'000);
  options.seconds = arguments.real("seconds", 0.01, 600);
  if (options.cpus == "same" && options.wait == "spin") {
    arguments.refuse("wait", "yield, block or sleep with --cpus same");
  }
  const int listener = listen_on_loopback();
  Processes ends(2, options.seconds * 2 + 30, [&](int rank) {
    return rank == 0 ? ask(options, listener) : echo(options, listener);
  });
  ends.join();
  return 0;
}

}  // namespace
}  // namespace limits

int main(int argc, char** argv) { return limits::run(argc, argv); }
