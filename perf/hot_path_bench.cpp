/// \file hot_path_bench.cpp
/// Question: what do the instructions of a message cost, apart from memory and other threads?
/// Set-up: a node alone in its group, put together by the engine, everything in one thread: sends
/// until half the window is full, then passes until all is delivered to a callback that sums every
/// byte. The ring stays in the core's cache; the clock stands. Unit: time per message, for sending
/// and delivering together (`SendAndDeliver`) and for the sender's part alone (`Send`). Command:
/// build/release/bin/hot_path_bench
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "fabric/routed.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

constexpr std::size_t kWindowBytes = 256 * 1024;
constexpr std::uint32_t kWindowRecords = 4096;

GroupOptions group_of(std::uint32_t size) {
  GroupOptions group;
  group.name = "g";
  group.members = {"alone"};
  group.senders = {"alone"};
  group.message_max_bytes = size;
  group.window_bytes = kWindowBytes;
  group.window_messages = kWindowRecords;
  return group;
}

/// The only member of a group.
class Alone final : private EngineEvents {
 public:
  explicit Alone(std::uint32_t size)
      : size_(size),
        plan_({"alone"}, {group_of(size)}, 0, false, 0),
        memory_(plan_.row_bytes() / sizeof(std::uint64_t)),
        fabric_(RoutedFabric::create(row(), 1, plan_.row_bytes(), {}).value()),
        jobs_({}, 0) {
    const EngineOptions options{
        .membership = {.incarnation = 1, .nodes = plan_.names, .look_every_ns = 1}};
    EngineEvents& events = *this;
    engine_ = std::make_unique<Engine<NativeMemory>>(
        options,
        EngineContext{.plan = plan_,
                      .own_row = row(),
                      .fabric = *fabric_,
                      .row_of = [this](Slot) { return row(); },
                      .jobs = jobs_,
                      .deliveries = {[this](std::span<const Message> batch) { read(batch); }}},
        events);
    std::uint64_t now_ns = 0;
    while (engine_->view().id == 0) engine_->pass(now_ns++);
    founded_ns_ = now_ns;
    deliver();
  }

  void send(int count) {
    SendRing& ring = *engine_->subgroup(0).ring();
    for (int i = 0; i < count; ++i) {
      SendRing::Space space;
      if (ring.claim(size_, space) != SendRing::Outcome::ok) return;
      std::memset(space.payload, i, size_);
      ring.commit(space);
    }
  }
  void deliver() {
    while (engine_->pass(founded_ns_) != 0) {
    }
    benchmark::DoNotOptimize(sum_);
  }
  [[nodiscard]] int burst() const {
    return static_cast<int>(kWindowBytes / 2 / kGranule / record_granules(size_));
  }

 private:
  // EngineEvents. Nothing comes after the first view.
  void entered(const Entry& /*entry*/) override {}
  void stopped(StopReason /*reason*/) override { std::abort(); }
  void let_go(Slot /*slot*/) override {}
  void tell(const Entry& /*entry*/) override {}
  void no_state(const Error& /*why*/) override { std::abort(); }

  std::byte* row() { return reinterpret_cast<std::byte*>(memory_.data()); }

  void read(std::span<const Message> batch) {
    for (const Message& message : batch) {
      for (std::uint32_t at = 0; at + 8 <= message.size; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, message.data + at, sizeof(word));
        sum_ += word;
      }
    }
  }

  const std::uint32_t size_;
  const RowPlan plan_;
  std::vector<std::uint64_t> memory_;
  std::unique_ptr<RoutedFabric> fabric_;
  StateJobs jobs_;  // none are asked for
  std::unique_ptr<Engine<NativeMemory>> engine_;
  std::uint64_t founded_ns_ = 0;
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
