/// \file restart.cpp
/// Question: how long does a group take to come back from its logs?
/// Set-up: three nodes in this process, over shared memory, each with a folder in DIR. They log
/// messages of BYTES until each log has MIB, and end. Then, in turn: all bytes of the three logs
/// are read by read(2), on a thread each; the nodes are started together, until each has handed its
/// first message to the application, and until each has handed on all. Unit: seconds; the files may
/// be in the page cache in both cases.
/// Command: build/release/bin/restart DIR [MIB] [BYTES] [ROUNDS], default 1024 10000 3, on the disk
/// in question; one JSON object per round. It removes what it wrote.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "must.hpp"
#include "support/loopback.hpp"
#include "tutti/bootstrap.hpp"
#include "tutti/node.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLong = 10min;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What three nodes on the same folders do, from their start to their end.
class Life {
 public:
  Life(const std::filesystem::path& folder, const std::vector<MemberAddress>& addresses)
      : begin_(Clock::now()), delivered_(addresses.size()), first_(addresses.size()) {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      NodeOptions options{.name = addresses[i].name,
                          .members = addresses,
                          .fabric = FabricChoice::shm,
                          .state_dir = (folder / addresses[i].name).string()};
      options.start_timeout = kLong;
      options.suspect_after = kLong;
      nodes_.push_back(must(Node::create(std::move(options))));
      groups_.push_back(must(nodes_.back().join({.name = "log",
                                                 .level = Level::durable,
                                                 .logged = true,
                                                 .on_delivery = [this, i](auto batch) {
                                                   if (delivered_[i] == 0 && !batch.empty()) {
                                                     first_[i] = seconds_since(begin_);
                                                   }
                                                   delivered_[i] += batch.size();
                                                 }})));
    }
    std::vector<std::jthread> starts;
    for (Node& node : nodes_) starts.emplace_back([&node] { must(node.start()); });
  }
  ~Life() {
    std::vector<std::jthread> ends;  // nobody is left to wait for one that has gone
    for (Node& node : nodes_) ends.emplace_back([&node] { static_cast<void>(node.stop(kLong)); });
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // All send, for all of the log is everybody's.
  void log(std::uint64_t messages, std::size_t bytes) {
    {
      std::vector<std::jthread> senders;
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        senders.emplace_back([&, i] {
          const std::vector<std::byte> message(bytes, std::byte{7});
          for (std::uint64_t n = i; n < messages; n += groups_.size()) {
            must(groups_[i].send(message, kLong));
          }
        });
      }
    }
    await(messages);
  }
  void await(std::uint64_t messages) {
    for (const auto& delivered : delivered_) {
      while (delivered < messages) std::this_thread::sleep_for(1ms);
    }
  }
  // Of the last of them.
  [[nodiscard]] double first() const {
    double latest = 0;
    for (const auto& one : first_) latest = std::max(latest, one.load());
    return latest;
  }
  [[nodiscard]] double age() const { return seconds_since(begin_); }

 private:
  const Clock::time_point begin_;
  std::vector<std::atomic<std::uint64_t>> delivered_;
  std::vector<std::atomic<double>> first_;
  std::vector<Node> nodes_;
  std::vector<Group> groups_;
};

void read_whole(const std::filesystem::path& folder) {
  std::vector<char> bytes(1U << 20);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    while (::read(file, bytes.data(), bytes.size()) > 0) {
    }
    ::close(file);
  }
}

double seconds_to_read(const std::filesystem::path& folder,
                       const std::vector<MemberAddress>& addresses) {
  const Clock::time_point begin = Clock::now();
  {
    std::vector<std::jthread> readers;
    for (const MemberAddress& one : addresses) {
      readers.emplace_back([&one, &folder] { read_whole(folder / one.name); });
    }
  }
  return seconds_since(begin);
}

int measure(const std::filesystem::path& base, std::uint64_t mib, std::size_t bytes, int rounds) {
  const std::filesystem::path folder = base / ("tutti-restart-" + std::to_string(::getpid()));
  const std::vector<MemberAddress> addresses = loopback_members(3);
  const std::uint64_t messages = (mib << 20) / bytes;
  std::filesystem::create_directories(folder);
  must(bootstrap({.name = addresses[0].name,
                  .members = addresses,
                  .state_dir = (folder / addresses[0].name).string()},
                 {"log"}));
  Life(folder, addresses).log(messages, bytes);
  for (int round = 0; round < rounds; ++round) {
    const double read = seconds_to_read(folder, addresses);
    Life life(folder, addresses);
    life.await(messages);
    std::printf(
        "{\"mib_each\": %llu, \"bytes\": %zu, \"read_seconds\": %.2f, \"first_delivery_seconds\": "
        "%.2f, \"all_delivered_seconds\": %.2f}\n",
        static_cast<unsigned long long>(mib), bytes, read, life.first(), life.age());
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const auto number = [&](int at, long otherwise) {
    return argc > at ? std::atol(argv[at]) : otherwise;
  };
  const long mib = number(2, 1024), bytes = number(3, 10'000), rounds = number(4, 3);
  if (argc < 2 || argc > 5 || mib < 1 || bytes < 1 || bytes > 65'536 || rounds < 1) {
    std::fprintf(stderr, "usage: restart DIR [MIB] [BYTES, at most 65536] [ROUNDS]\n");
    return 2;
  }
  return tutti::measure(argv[1], static_cast<std::uint64_t>(mib), static_cast<std::size_t>(bytes),
                        static_cast<int>(rounds));
}
