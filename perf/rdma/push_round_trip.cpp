// Question: how long does one 8-byte push through our fabric take, one way? To be held against
// ib_write_lat on the same devices, which writes by itself and waits in the same manner: spinning.
// Set-up: two nodes with a thread each, connected by RDMA; each answers the other's word with one
// of its own. After a tenth of the rounds as warm-up, each round trip is timed; half of it is a
// way. Unit: ns, as JSON. Command: push_round_trip ADDRESS ADDRESS ROUNDS (perf/rdma.py runs it).
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fabric/segment.hpp"
#include "fabric/sleeper.hpp"
#include "fabric/verbs/device.hpp"
#include "fabric/verbs/meeting.hpp"
#include "fabric/verbs/verbs_fabric.hpp"

namespace {

using tutti::Result;
using tutti::Segment;
using tutti::Sleeper;
using tutti::Slot;
using tutti::VerbsFabric;
namespace verbs = tutti::verbs;

constexpr std::size_t kRowBytes = 4096;
constexpr std::uint64_t kWord = 64;

struct Node {
  Slot slot;
  Segment row;
  std::unique_ptr<Sleeper> sleeper;
  std::shared_ptr<verbs::Device> device;
  std::unique_ptr<VerbsFabric> fabric;

  void send(Slot peer, std::uint64_t value) {
    auto* const word = reinterpret_cast<std::uint64_t*>(row.data() + kWord);
    *word = value;
    fabric->publish(peer, kWord, std::as_bytes(std::span(word, 1)));
    fabric->flush();
  }
  void await(Slot peer, std::uint64_t value) {
    const auto* const word =
        reinterpret_cast<const std::atomic<std::uint64_t>*>(fabric->row(peer) + kWord);
    // Pairs with the peer's device.
    while (word->load(std::memory_order_acquire) < value) fabric->poll();
  }
};

template <class Value>
Value must(Result<Value> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "push_round_trip: %s\n", result.error().message.c_str());
  std::exit(1);
}

Node make_node(std::uint32_t slot, const std::string& address) {
  Node node{.slot = Slot{slot},
            .row = must(Segment::create(kRowBytes)),
            .sleeper = must(Sleeper::create()),
            .device = nullptr,
            .fabric = nullptr};
  node.device = must(verbs::Device::open(address, "", {node.row.data(), node.row.size()}));
  node.fabric = must(VerbsFabric::create(*node.sleeper, node.device));
  return node;
}

void connect(Node& caller, Node& called) {
  const auto who = [](const Node& own, const Node& peer) {
    return verbs::Acquaintance{.slot = own.slot.value,
                               .incarnation = own.slot.value + 1,
                               .peer_incarnation = peer.slot.value + 1,
                               .peer_row_bytes = kRowBytes};
  };
  std::array<std::unique_ptr<verbs::Meeting>, 2> meetings;
  std::array<std::shared_ptr<verbs::Pair>, 2> pairs;
  meetings[0] =
      must(verbs::Meeting::call(caller.device, who(caller, called), called.device->address()));
  while (pairs[0] == nullptr || pairs[1] == nullptr) {
    if (meetings[1] == nullptr) {
      std::optional<verbs::Call> call = must(called.device->next_call());
      if (call) {
        meetings[1] =
            must(verbs::Meeting::answer(called.device, who(called, caller), std::move(*call)));
      }
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (meetings[i] != nullptr && pairs[i] == nullptr) pairs[i] = must(meetings[i]->step());
    }
  }
  const std::array<Node*, 2> nodes{&caller, &called};
  for (std::size_t i = 0; i < 2; ++i) {
    const Result<void> attached = nodes[i]->fabric->attach(
        {.peer = nodes[1 - i]->slot, .pair = std::move(pairs[i]), .row_bytes = kRowBytes});
    if (!attached) must(Result<int>(std::unexpected(attached.error())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc == 4 ? std::atol(argv[3]) : 0;
  if (rounds < 10) {
    std::fprintf(stderr, "usage: push_round_trip ADDRESS ADDRESS ROUNDS (10 or more)\n");
    return 2;
  }
  Node first = make_node(0, argv[1]);
  Node second = make_node(1, argv[2]);
  connect(first, second);
  const auto last = static_cast<std::uint64_t>(rounds);
  std::thread answering([&] {
    for (std::uint64_t round = 1; round <= last; ++round) {
      second.await(first.slot, round);
      second.send(first.slot, round);
    }
  });
  std::vector<std::int64_t> one_way_ns;
  one_way_ns.reserve(last);
  for (std::uint64_t round = 1; round <= last; ++round) {
    const auto start = std::chrono::steady_clock::now();
    first.send(second.slot, round);
    first.await(second.slot, round);
    const auto taken = std::chrono::steady_clock::now() - start;
    if (round > last / 10) one_way_ns.push_back(std::chrono::nanoseconds(taken).count() / 2);
  }
  answering.join();
  std::ranges::sort(one_way_ns);
  const auto at = [&](double share) {
    return one_way_ns[static_cast<std::size_t>(share * static_cast<double>(one_way_ns.size() - 1))];
  };
  std::printf("{\"rounds\": %zu, \"p50\": %lld, \"p99\": %lld}\n", one_way_ns.size(),
              static_cast<long long>(at(0.5)), static_cast<long long>(at(0.99)));
  return 0;
}
