/// \file hot_path_bench.cpp
/// Question: what do the instructions of a message cost, apart from memory and other threads?
/// Set-up: a group of one member, everything in one thread: sends until half the window is full,
/// then passes until all is delivered to a callback that sums every byte. The ring stays in the
/// core's cache. Unit: time per message, for sending and delivering together (`SendAndDeliver`) and
/// for the sender's part alone (`Send`). Command: build/release/bin/hot_path_bench
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "fabric/routed.hpp"
#include "multicast/subgroup.hpp"
#include "predicates/predicate_loop.hpp"
#include "sst/row_layout.hpp"

namespace tutti {
namespace {

constexpr std::size_t kWindowBytes = 256 * 1024;
constexpr std::uint32_t kWindowRecords = 4096;

/// The only member of a group.
class Alone {
 public:
  explicit Alone(std::uint32_t size)
      : size_(size),
        memory_((kRingAt + kWindowBytes) / sizeof(std::uint64_t)),
        fabric_(RoutedFabric::create(row(), 1, kRingAt, {}).value()),
        loop_(*fabric_),
        subgroup_(shape(), {.control_offset = kControlAt, .ring_offset = kRingAt, .peers = {}},
                  [this](std::span<const Message> batch) { read(batch); }) {
    loop_.add(subgroup_);
  }

  void send(int count) {
    for (int i = 0; i < count; ++i) {
      SendRing::Space space;
      if (subgroup_.ring()->claim(size_, space) != SendRing::Outcome::ok) return;
      std::memset(space.payload, i, size_);
      subgroup_.ring()->commit(space);
    }
  }
  void deliver() {
    while (loop_.pass() != 0) {
    }
    benchmark::DoNotOptimize(sum_);
  }
  [[nodiscard]] int burst() const {
    return static_cast<int>(kWindowBytes / 2 / kGranule / record_granules(size_));
  }

 private:
  static constexpr std::size_t kReclaimedAt = 64;
  static constexpr std::size_t kControlAt = 128;
  static constexpr std::size_t kRingAt = 4096;

  std::byte* row() { return reinterpret_cast<std::byte*>(memory_.data()); }

  GroupShape shape() {
    GroupShape shape;
    shape.own_sender = 0;
    shape.sender_ranks = {0};
    shape.sender_ids = {0};
    shape.own_control = row() + kControlAt;
    shape.own_ring = row() + kRingAt;
    shape.member_controls = {shape.own_control};
    shape.sender_rings = {shape.own_ring};
    shape.sender_reclaimed = {row() + kReclaimedAt};
    shape.ring_granules = kWindowBytes / kGranule;
    shape.window_records = kWindowRecords;
    shape.message_max_bytes = size_;
    return shape;
  }

  void read(std::span<const Message> batch) {
    for (const Message& message : batch) {
      for (std::uint32_t at = 0; at + 8 <= message.size; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, message.data + at, sizeof(word));
        sum_ += word;
      }
    }
  }

  std::uint32_t size_;
  std::vector<std::uint64_t> memory_;
  std::unique_ptr<RoutedFabric> fabric_;
  PredicateLoop loop_;
  Subgroup<NativeMemory> subgroup_;
  std::uint64_t sum_ = 0;
};

void measure(benchmark::State& state, bool with_delivery) {
  Alone alone(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    alone.send(alone.burst());
    if (!with_delivery) state.PauseTiming();
    alone.deliver();
    if (!with_delivery) state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * alone.burst());
}

void send_and_deliver(benchmark::State& state) { measure(state, true); }
void send(benchmark::State& state) { measure(state, false); }
BENCHMARK(send_and_deliver)->Name("SendAndDeliver")->Arg(64)->Arg(1024);
BENCHMARK(send)->Name("Send")->Arg(64)->Arg(1024);

}  // namespace
}  // namespace tutti

BENCHMARK_MAIN();
