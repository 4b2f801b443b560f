/// Traffic as in the real thing, on every fabric: guarded data in rings, by one thread and by many.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "conformance/stream.hpp"

namespace tutti::testing {
namespace {

class FabricStreams : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricStreams, ::testing::ValuesIn(fabric_kinds()), kind_name);

/// Drives the nodes by one thread.
void run_streams(World& world, const StreamOptions& options) {
  std::vector<std::unique_ptr<Stream>> streams;
  streams.reserve(world.size());
  for (const auto& node : world.nodes) {
    streams.push_back(std::make_unique<Stream>(*node, world.size(), options));
  }
  const Deadline deadline;
  const auto done = [](const auto& stream) { return stream->done(); };
  while (!std::ranges::all_of(streams, done)) {
    ASSERT_FALSE(deadline.passed());
    for (const auto& stream : streams) {
      stream->step();
      ASSERT_FALSE(stream->broken());
    }
  }
}

/// Drives each node by a thread of its own; those with nothing to do sleep if `sleeping`.
void run_streams_in_threads(World& world, const StreamOptions& options, bool sleeping) {
  std::atomic<std::size_t> running = world.size();
  Draining draining(world.size());
  std::atomic<bool> failed = false;
  const Deadline deadline;
  const auto run = [&](Node& node) {
    Stream stream(node, world.size(), options);
    while (!stream.done() && !failed) {
      if (!stream.step()) {
        bool worked = false;
        if (sleeping) node.sleep_unless([&] { return worked = stream.step(); });
        if (!worked) std::this_thread::yield();
      }
      if (stream.broken() || deadline.passed()) failed = true;
    }
    // The others may still need what waits here.
    --running;
    bool drained = false;
    while ((running > 0 || draining.step(node, drained)) && !failed) {
      if (running > 0) node.poll();
      std::this_thread::yield();
      if (deadline.passed()) failed = true;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(world.size());
  for (const auto& node : world.nodes) threads.emplace_back(run, std::ref(*node));
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
}

TEST_P(FabricStreams, StreamsInBothDirectionsAtOnce) {
  const StreamOptions options;
  run_streams(start(2, Stream::row_bytes(2, options)), options);
}

TEST_P(FabricStreams, StreamsAmongThreeNodes) {
  const StreamOptions options{.messages = 500, .slots = 5, .message_max_bytes = 3000};
  run_streams(start(3, Stream::row_bytes(3, options)), options);
}

TEST_P(FabricStreams, StreamsWithGuardsInPostsOfTheirOwn) {
  const StreamOptions options{.messages = 500, .guard_apart = true};
  run_streams(start(3, Stream::row_bytes(3, options)), options);
}

TEST_P(FabricStreams, StreamsOfLargeMessages) {
  const StreamOptions options{.messages = 60, .slots = 4, .message_max_bytes = 200'000};
  run_streams(start(2, Stream::row_bytes(2, options)), options);
}

TEST_P(FabricStreams, StreamsWithAThreadPerNode) {
  const StreamOptions options{.messages = 300};  // each passes the processor on some 100 times
  run_streams_in_threads(start(3, Stream::row_bytes(3, options)), options, false);
}

TEST_P(FabricStreams, StreamsWithAThreadPerNodeThatSleeps) {
  const StreamOptions options{.messages = 300, .slots = 2};
  run_streams_in_threads(start(3, Stream::row_bytes(3, options)), options, true);
}

}  // namespace
}  // namespace tutti::testing
