/// \file topic_creation.cpp
/// Question: how long does it take to create a topic while others are busy, and what do topics that
/// are quiet cost in memory?
/// Set-up: members in this process, over shared memory, a thread each. The first one writes 64 B to
/// an atomic topic: 1,000 a second, or, with `full`, as fast as it goes. Meanwhile the second
/// creates topics in the same bundle, one after the other. Unit: ns from the call to the return of
/// Topic::create (p50 and most), beside the time from a write to its delivery at the writer (p50:
/// two one-way delays), and the time of one change of view (p50 of the calls with which the second
/// member then joins a group at run time); the longest time between two deliveries of the busy
/// topic at any member, while topics are created and then for as long without; bytes by which the
/// resident memory of the process has grown, for each topic and member. Command:
/// build/release/bin/topic_creation [MEMBERS] [TOPICS] [paced|full], default 3 1000 paced; one JSON
/// object.
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "must.hpp"
#include "support/loopback.hpp"
#include "tutti/dds.hpp"

namespace tutti::dds {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Payload {
  std::uint64_t first;
  std::byte rest[56];
};

std::int64_t now_ns() { return Clock::now().time_since_epoch() / 1ns; }

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The longest time between two deliveries; add() on the delivery thread.
class Gap {
 public:
  void add() {
    const std::int64_t now = now_ns();
    const std::int64_t gap = now - last_;
    if (last_ != 0 && gap > longest_.load(std::memory_order_relaxed)) {
      longest_.store(gap, std::memory_order_relaxed);
    }
    last_ = now;
  }
  std::int64_t take() { return longest_.exchange(0, std::memory_order_relaxed); }

 private:
  std::int64_t last_ = 0;
  std::atomic<std::int64_t> longest_{0};
};

struct Member {
  std::optional<Node> node{};
  std::optional<DomainParticipant> participant{};
  std::optional<DataReader<Payload>> reader{};
  Gap gap{};
};

std::int64_t median(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::int64_t longest_gap(std::vector<std::unique_ptr<Member>>& members) {
  std::int64_t longest = 0;
  for (auto& member : members) longest = std::max(longest, member->gap.take());
  return longest;
}

constexpr int kViewChanges = 20;

// Of the group that is joined at run time.
GroupOptions group_options() {
  return {.name = "now and then", .message_max_bytes = 64, .window_bytes = 4096};
}

std::vector<std::unique_ptr<Member>> start(std::size_t count, std::uint32_t topics) {
  const std::vector<MemberAddress> addresses = loopback_members(count);
  std::vector<std::unique_ptr<Member>> members;
  for (const MemberAddress& address : addresses) {
    auto member = std::make_unique<Member>();
    member->node.emplace(must(Node::create({.name = address.name,
                                            .members = addresses,
                                            .fabric = FabricChoice::shm,
                                            .suspect_after = std::chrono::seconds(20)})));
    must(member->node->reserve(group_options(), 1));
    member->participant.emplace(must(DomainParticipant::create(
        *member->node, {.bundles = {{.name = "atomic"}}, .topics_max = topics + 1})));
    members.push_back(std::move(member));
  }
  std::vector<std::jthread> starts;
  for (auto& member : members) {
    starts.emplace_back([&member] {
      must(member->node->start());
      const auto topic = must(Topic<Payload>::create(*member->participant, "busy"));
      member->reader.emplace(must(DataReader<Payload>::create(
          topic, {},
          {.on_samples = [gap = &member->gap](const SampleBatch<Payload>&) { gap->add(); }})));
    });
  }
  return members;
}

void measure(std::size_t count, std::uint32_t topics, bool full) {
  auto members = start(count, topics);
  const auto busy = must(Topic<Payload>::create(*members[0]->participant, "busy"));
  auto writer = must(DataWriter<Payload>::create(busy, {.max_blocking_time = 10s}));
  std::vector<std::int64_t> round_trips;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t begin = now_ns();
    must(writer.wait(must(writer.write({})), 10s));
    round_trips.push_back(now_ns() - begin);
  }
  std::vector<std::int64_t> creations;
  std::vector<std::int64_t> view_changes;
  std::int64_t without = 0;
  std::int64_t meanwhile = 0;
  std::uint64_t grown = 0;
  std::vector<Topic<Payload>> quiet;
  {
    std::jthread writing([&writer, full](const std::stop_token& over) {
      for (auto next = Clock::now(); !over.stop_requested();) {
        static_cast<void>(must(writer.write({})));
        if (!full) std::this_thread::sleep_until(next += 1ms);
      }
    });
    const auto create = [&] {
      for (std::uint32_t i = 0; i < topics; ++i) {
        const std::int64_t begin = now_ns();
        quiet.push_back(must(
            Topic<Payload>::create(*members[1 % count]->participant, "quiet" + std::to_string(i))));
        creations.push_back(now_ns() - begin);
      }
    };
    std::this_thread::sleep_for(100ms);  // it is busy
    static_cast<void>(longest_gap(members));
    const std::uint64_t resident = resident_bytes();
    const auto begin = Clock::now();
    create();
    const auto took = Clock::now() - begin;
    meanwhile = longest_gap(members);
    grown = resident_bytes() - resident;
    std::this_thread::sleep_for(took);  // as long, without
    without = longest_gap(members);
    for (int i = 0; i < kViewChanges; ++i) {
      const std::int64_t called = now_ns();
      Group group = must(members[1 % count]->node->join(group_options(), 10s));
      view_changes.push_back(now_ns() - called);
      must(group.leave(10s));
    }
  }
  std::printf(
      "{\"members\": %zu, \"topics\": %u, \"writer\": \"%s\", \"round_trip_p50_ns\": %lld, "
      "\"view_change_p50_ns\": %lld, \"create_p50_ns\": %lld, \"create_max_ns\": %lld, "
      "\"gap_without_ns\": %lld, "
      "\"gap_while_creating_ns\": %lld, \"bytes_per_topic_and_member\": %.0f}\n",
      count, topics, full ? "full" : "paced", static_cast<long long>(median(round_trips)),
      static_cast<long long>(median(view_changes)), static_cast<long long>(median(creations)),
      static_cast<long long>(*std::ranges::max_element(creations)), static_cast<long long>(without),
      static_cast<long long>(meanwhile),
      static_cast<double>(grown) / static_cast<double>(topics) / static_cast<double>(count));
}

}  // namespace
}  // namespace tutti::dds

int main(int argc, char** argv) {
  const int members = argc > 1 ? std::atoi(argv[1]) : 3;
  const int topics = argc > 2 ? std::atoi(argv[2]) : 1000;
  const std::string_view writer = argc > 3 ? argv[3] : "paced";
  if (members < 1 || members > 16 || topics < 1 || topics > 100'000 ||
      (writer != "paced" && writer != "full")) {
    return std::fprintf(stderr, "usage: %s [MEMBERS] [TOPICS] [paced|full]\n", argv[0]), 2;
  }
  tutti::dds::measure(static_cast<std::size_t>(members), static_cast<std::uint32_t>(topics),
                      writer == "full");
  return 0;
}
