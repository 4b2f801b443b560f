/// \file tcp_fanout.cpp
/// Question: how many bytes per second can members deliver when each sends all it can to all the
/// others over raw TCP, without order, stability or a library?
///
/// Set-up: one single-threaded process per member, full mesh over 127.0.0.1, non-blocking sockets,
/// TCP_NODELAY. A pass writes one block to each peer and reads once from each; when nothing moved:
/// poll(), or sched_yield (`--idle yield`). A fifth of the time is warm-up. Nobody touches the
/// bytes but the kernel.
///
/// Unit: bytes delivered per second and member: all that came from the others, and the own bytes
/// that were handed to every peer. `delivered_messages_per_second` counts blocks.
///
/// Command: limit_tcp_fanout --members 3 --block 64K --seconds 2
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "arguments.hpp"
#include "json.hpp"
#include "loopback.hpp"
#include "processes.hpp"

namespace limits {
namespace {

constexpr int kMostMembers = 32;

struct Options {
  int members;
  size_t block;
  size_t read_buffer;
  bool yield;
  double seconds;
};

struct Shared {
  std::atomic<size_t> ready;
  alignas(kLineBytes) std::atomic<bool> stop;
  struct alignas(kLineBytes) {
    std::atomic<int64_t> value;  // bytes; written by its member
  } delivered[kMostMembers];
};

struct Peer {
  int connection;
  int64_t sent = 0;
  size_t unsent = 0;  // of the block under way
};

class Member {
 public:
  Member(const Options& options, const std::vector<int>& connections)
      : incoming_(options.read_buffer), block_(options.block, std::byte{0x5A}) {
    for (const int connection : connections) {
      set_non_blocking(connection);
      peers_.push_back({connection, 0, 0});
      polled_.push_back({connection, POLLIN | POLLOUT, 0});
    }
  }

  /// Writes to and reads from every peer once. Returns whether any byte moved, or what is there to
  /// say so: after an error or an end of file `lost()` is true.
  bool pass() {
    int64_t moved = 0;
    for (Peer& peer : peers_) moved += write_to(peer) + read_from(peer);
    return moved > 0;
  }

  void wait() { poll(polled_.data(), polled_.size(), -1); }

  [[nodiscard]] bool lost() const { return lost_; }

  [[nodiscard]] int64_t delivered() const {
    int64_t own = std::numeric_limits<int64_t>::max();
    for (const Peer& peer : peers_) own = std::min(own, peer.sent);
    return own + received_;
  }

 private:
  int64_t write_to(Peer& peer) {
    if (peer.unsent == 0) peer.unsent = block_.size();
    const std::byte* rest = block_.data() + (block_.size() - peer.unsent);
    const ssize_t count = send(peer.connection, rest, peer.unsent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) {
      lost_ = lost_ || !would_block();
      return 0;
    }
    peer.unsent -= static_cast<size_t>(count);
    peer.sent += count;
    return count;
  }

  int64_t read_from(const Peer& peer) {
    const ssize_t count = recv(peer.connection, incoming_.data(), incoming_.size(), MSG_DONTWAIT);
    if (count <= 0) {
      lost_ = lost_ || count == 0 || !would_block();
      return 0;
    }
    received_ += count;
    return count;
  }

  std::vector<Peer> peers_;
  std::vector<pollfd> polled_;
  std::vector<std::byte> incoming_;
  std::vector<std::byte> block_;
  int64_t received_ = 0;
  bool lost_ = false;
};

int run_member(const Options& options, Shared& shared, int rank,
               const std::vector<int>& listeners) {
  Member member(options, connect_mesh(rank, listeners));
  report_ready(shared.ready);
  std::atomic<int64_t>& delivered = shared.delivered[rank].value;
  while (!shared.stop.load(std::memory_order_acquire)) {
    const bool moved = member.pass();
    delivered.store(member.delivered(), std::memory_order_relaxed);
    if (moved) continue;
    if (member.lost()) {
      // A peer that saw `stop` first and left is no loss: its stop happened before our end of file.
      if (shared.stop.load(std::memory_order_acquire)) break;
      std::fprintf(stderr, "error: member %d lost a connection\n", rank);
      return 1;
    }
    if (options.yield) {
      sched_yield();
    } else {
      member.wait();
    }
  }
  return 0;
}

int64_t total(const Shared& shared, int members) {
  int64_t bytes = 0;
  for (int rank = 0; rank < members; ++rank) bytes += shared.delivered[rank].value.load();
  return bytes;
}

Options parse(int argc, char** argv) {
  Arguments arguments(argc, argv,
                      {{"members", "3", "processes, 2 to 32"},
                       {"block", "64K", "bytes per write"},
                       {"read-buffer", "256K", "bytes per read, at most"},
                       {"idle", "poll", "poll or yield, when nothing moved"},
                       {"seconds", "2", "a fifth of it warm-up, the rest measured"}});
  Options options{};
  options.members = static_cast<int>(arguments.integer("members", 2, kMostMembers));
  options.block = static_cast<size_t>(arguments.integer("block", 1, 1 << 26));
  options.read_buffer = static_cast<size_t>(arguments.integer("read-buffer", 1, 1 << 26));
  options.yield = arguments.choice("idle", {"poll", "yield"}) == "yield";
  options.seconds = arguments.real("seconds", 0.01, 600);
  return options;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::vector<int> listeners;
  listeners.reserve(static_cast<size_t>(options.members));
  for (int rank = 0; rank < options.members; ++rank) listeners.push_back(listen_on_loopback());
  Shared& shared = *new (map_shared(sizeof(Shared))) Shared;
  Processes members(options.members, options.seconds * 2 + 30,
                    [&](int rank) { return run_member(options, shared, rank, listeners); });
  members.wait_until_ready(shared.ready);
  const Window window =
      members.measure(options.seconds, [&] { return total(shared, options.members); });
  shared.stop.store(true, std::memory_order_release);
  members.join();
  const double rate = window.per_second() / options.members;
  return Json()
      .add("delivered_bytes_per_second", rate)
      .add("delivered_messages_per_second", rate / static_cast<double>(options.block))
      .add("members", int64_t{options.members})
      .add("block", static_cast<int64_t>(options.block))
      .add("seconds", window.seconds)
      .add("cpu_seconds", window.cpu_seconds)
      .print();
}

}  // namespace
}  // namespace limits

int main(int argc, char** argv) { return limits::run(argc, argv); }
