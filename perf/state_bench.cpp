/// \file state_bench.cpp
/// Question: what does it cost the others and the giver that a large state goes to a joiner, and
/// what does it cost the joiner if the giver dies half-way?
/// Set-up: members a, b, c and the joiner d in this process, over shared memory; c sends 500
/// messages of 100 bytes a second, b notes how long each took (c in SlowSave). The snapshot of a
/// and b is made up as it is read, and d throws away what it loads: all memory that is used is
/// Tutti's. `Join`: the state goes to d. `JoinAndKill`: a, which gives, is destroyed half-way.
/// `SlowSave`: a and b save an empty state for 10 s each, with suspect_after 0.5 s.
/// `TwoBusyThreads`: nobody joins, and two threads compute for a second: what is due to the
/// processors that a transfer needs. Unit: seconds of d's start. Counters: usual_p99_us and p99_us,
/// before and during the transfer; rss_mib, how much resident memory all four grew by at most
/// meanwhile (d's own row included); gap_ms, the longest time between two pieces; reread_kib, what
/// was read twice; removed, members that b's view lacks in the end.
/// Command: build/release/bin/state_bench, with --full 1 GiB instead of 16 MiB, and 10 s, not 1 s
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "must.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::uint64_t state_bytes = 16 << 20;
std::chrono::seconds save_time = 1s;

enum class Run : std::uint8_t { join, join_and_kill, slow_save, two_busy_threads };

std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double p99_us(std::vector<std::int64_t> times) {
  if (times.empty()) return 0;
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
  std::ranges::nth_element(times, at);
  return static_cast<double>(*at) / 1'000;
}

// On a loopback host of this process alone: no other takes the port while no member has it.
std::string next_address() {
  static std::uint16_t next_port = 20'000;
  const auto pid = static_cast<unsigned>(::getpid());
  return "127." + std::to_string(1 + (pid >> 16U)) + "." + std::to_string((pid >> 8U) & 0xffU) +
         "." + std::to_string(pid & 0xffU) + ":" + std::to_string(next_port++);
}

class Members {
 public:
  explicit Members(Run run) : run_(run) {
    for (const char* name : {"a", "b", "c", "d"}) {
      addresses_.push_back({name, next_address()});
    }
    for (std::size_t member = 0; member < 4; ++member) make(member);
    std::vector<std::jthread> starts;
    for (std::size_t member = 0; member < 3; ++member) {
      starts.emplace_back([this, member] { must(nodes_[member]->start()); });
    }
    starts.clear();
    sender_ = std::jthread([this](const std::stop_token& stop) { send(stop); });
  }
  ~Members() {
    sender_ = {};
    for (auto& node : nodes_) {
      if (node) static_cast<void>(node->stop(1s));
    }
  }

  /// The joiner's start, in seconds.
  double join() {
    most_mib_ = before_mib_ = resident_mib();
    joining_ = true;
    const std::int64_t begin = now_ns();
    if (run_ == Run::two_busy_threads) {
      const auto compute = [](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      };
      const std::jthread first(compute), second(compute);
      std::this_thread::sleep_for(1s);
      joining_ = false;
      return 1;
    }
    std::jthread joiner([this] { must(nodes_[3]->start()); });
    if (run_ == Run::join_and_kill) {
      while (loaded_ < state_bytes / 2) std::this_thread::yield();
      nodes_[0].reset();
    }
    joiner.join();
    joining_ = false;
    return static_cast<double>(now_ns() - begin) / 1e9;
  }
  void usual(std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); }

  void tell(benchmark::State& state) {
    state.counters["removed"] = removed();
    const std::lock_guard lock(mutex_);
    state.counters["usual_p99_us"] = p99_us(usual_);
    state.counters["p99_us"] = p99_us(during_);
    state.counters["rss_mib"] = most_mib_ - before_mib_;
    state.counters["gap_ms"] = static_cast<double>(longest_gap_ns_) / 1e6;
    if (run_ == Run::slow_save || run_ == Run::two_busy_threads) return;
    state.counters["reread_kib"] = static_cast<double>(read_ - state_bytes) / 1024;
  }

 private:
  // What b is told of may be late: it saves as long as a does.
  double removed() {
    const std::size_t whole = run_ == Run::join || run_ == Run::slow_save ? 4 : 3;
    const auto members = [this] { return nodes_[1]->view().members.size(); };
    for (const auto end = Clock::now() + 5s; Clock::now() < end && members() != whole;) {
      std::this_thread::sleep_for(1ms);
    }
    return static_cast<double>(whole) - static_cast<double>(members());
  }
  void make(std::size_t member) {
    NodeOptions options{.name = addresses_[member].name,
                        .members = addresses_,
                        .fabric = FabricChoice::shm,
                        .start_timeout = 10min,
                        .founders = 3,
                        .suspect_after = run_ == Run::slow_save ? 500ms : 20'000ms};
    nodes_[member] = std::make_unique<Node>(must(Node::create(std::move(options))));
    GroupOptions group{.name = "log", .senders = {"c"}, .window_bytes = 16 << 20};
    group.stateful = true;
    if (run_ == Run::slow_save) {
      group.save_state = [](const StateSink&) -> Result<void> {
        std::this_thread::sleep_for(save_time);
        return {};
      };
    } else {
      group.snapshot = [this]() -> Result<ReadSnapshot> {
        return
            [this](std::uint64_t offset, std::span<std::byte> into) { return read(offset, into); };
      };
    }
    group.load_state = [this](const StatePiece& piece) { return load(piece); };
    if (member == (run_ == Run::slow_save ? 2 : 1)) {
      group.on_delivery = [this](std::span<const Message> batch) {
        const std::lock_guard lock(mutex_);
        for (const Message& message : batch) {
          std::int64_t sent = 0;
          std::memcpy(&sent, message.data, sizeof sent);
          (joining_ ? during_ : usual_).push_back(now_ns() - sent);
        }
      };
    }
    groups_[member] = std::make_unique<Group>(must(nodes_[member]->join(std::move(group))));
  }
  void send(const std::stop_token& stop) {
    std::array<std::byte, 100> message{};
    for (auto next = Clock::now(); !stop.stop_requested(); next += 2ms) {
      std::this_thread::sleep_until(next);
      const std::int64_t now = now_ns();
      std::memcpy(message.data(), &now, sizeof now);
      if (!groups_[2]->send(std::span<const std::byte>(message), 1min)) return;
      if (joining_) most_mib_ = std::max(most_mib_.load(), resident_mib());
    }
  }
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) {
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(into.size(), state_bytes - std::min(offset, state_bytes)));
    std::memset(into.data(), static_cast<int>(offset >> 16), size);
    read_ += size;
    return size;
  }
  Result<void> load(const StatePiece& piece) {
    const std::int64_t now = now_ns();
    if (!piece.first) longest_gap_ns_ = std::max(longest_gap_ns_, now - last_load_ns_);
    last_load_ns_ = now;
    loaded_ += piece.bytes.size();
    return {};
  }

  const Run run_;
  std::vector<MemberAddress> addresses_;
  std::array<std::unique_ptr<Node>, 4> nodes_;
  std::array<std::unique_ptr<Group>, 4> groups_;
  std::jthread sender_;
  std::atomic<bool> joining_{false};
  std::atomic<double> most_mib_{0};
  double before_mib_ = 0;
  std::atomic<std::uint64_t> read_{0}, loaded_{0};
  std::int64_t last_load_ns_ = 0, longest_gap_ns_ = 0;
  std::mutex mutex_;
  std::vector<std::int64_t> usual_, during_;
};

void measure(benchmark::State& state, Run run) {
  for ([[maybe_unused]] auto turn : state) {
    Members members(run);
    members.usual(state_bytes > (64 << 20) ? 3s : 200ms);
    state.SetIterationTime(members.join());
    members.tell(state);
  }
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--full") != 0) continue;
    tutti::state_bytes = 1 << 30;
    tutti::save_time = 10s;
    std::move(argv + i + 1, argv + argc, argv + i);
    --argc;
  }
  using tutti::Run;
  for (const auto& [name, run] : {std::pair("Join", Run::join),
                                  {"JoinAndKill", Run::join_and_kill},
                                  {"SlowSave", Run::slow_save},
                                  {"TwoBusyThreads", Run::two_busy_threads}}) {
    benchmark::RegisterBenchmark(name, tutti::measure, run)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kSecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
