/// \file topics.cpp
/// Question: what does a topic cost beside the group that carries it?
/// Set-up: members in this process, over shared memory, each with a plain group and a bundle of the
/// same options; the first, or all, write as fast as they can, alternately to the group and to an
/// atomic topic, in pairs. Both copy the payload into the ring once, and look at its first 8 bytes
/// in a callback on the predicate thread, which gets batches (on_samples) or, with `each`, one
/// sample at a time (on_sample). `stamps`: with source timestamps, a look at the clock for each
/// sample. `threads`: of all members, as in production; with 1, one thread writes to half of the
/// window and then drives all members until all is delivered, so that no time goes into waiting and
/// what is left is the work. Unit: deliveries per second at the first member, and processor time of
/// all members for each; the ratio is the median over the pairs, topic : group, of processor time.
/// Command: build/release/bin/topics [MEMBERS] [ROUNDS] [SECONDS] [all|one], default 3 9 0.5 all;
/// one JSON object per line.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
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

template <std::size_t kBytes>
struct Payload {
  std::uint64_t first;
  std::byte rest[kBytes - 8];
};

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Of one member; written by its delivery thread alone.
struct Seen {
  std::atomic<std::uint64_t> deliveries{0};
  std::atomic<std::uint64_t> sum{0};
  void add(std::uint64_t count, std::uint64_t value) {
    deliveries.store(deliveries.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    sum.store(sum.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
};

template <std::size_t kBytes>
struct Member {
  std::optional<Node> node{};
  std::optional<Group> group{};
  std::optional<DomainParticipant> participant{};
  std::optional<DataReader<Payload<kBytes>>> reader{};
  std::optional<DataWriter<Payload<kBytes>>> writer{};
  Seen seen{};
};

struct Measured {
  double per_second = 0;
  double processor_ns = 0;
};

// How the members are driven, and how they read.
struct Mode {
  bool one_thread = false;
  bool stamps = true;
  bool each = false;
};

constexpr std::size_t kWindowBytes = 1 << 20;

template <std::size_t kBytes>
class Comparison {
 public:
  Comparison(std::size_t members, Mode mode) : mode_(mode) {
    const std::vector<MemberAddress> addresses = loopback_members(members);
    for (const MemberAddress& address : addresses) add_member(address, addresses);
    std::atomic<std::size_t> ready{0};
    std::vector<std::jthread> starts;
    for (const auto& member : members_) {
      starts.emplace_back([this, &ready, &member = *member] {
        must(member.node->start());
        open_topic(member);
        ++ready;
        while (mode_.one_thread && ready < members_.size()) member.node->poll();
      });
    }
  }

  Measured measure(std::size_t writers, bool topic, double seconds) {
    const Seen& seen = members_[0]->seen;
    const std::uint64_t before = seen.deliveries;
    const double processor = processor_seconds();
    const auto begin = std::chrono::steady_clock::now();
    const auto end = begin + std::chrono::duration<double>(seconds);
    std::atomic<bool> over{false};
    std::vector<std::jthread> threads;
    if (mode_.one_thread) {
      while (std::chrono::steady_clock::now() < end) turn(writers, topic);
    } else {
      for (std::size_t i = 0; i < writers; ++i) {
        threads.emplace_back([&over, topic, &member = *members_[i]] {
          while (!over.load(std::memory_order_relaxed)) write(member, topic);
        });
      }
      std::this_thread::sleep_until(end);
    }
    const auto count = static_cast<double>(seen.deliveries - before);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double used = processor_seconds() - processor;
    over = true;
    threads.clear();
    return {count / took.count(), used * 1e9 / count};
  }

 private:
  using Payload = dds::Payload<kBytes>;
  using Member = dds::Member<kBytes>;

  void add_member(const MemberAddress& address, const std::vector<MemberAddress>& all) {
    auto member = std::make_unique<Member>();
    member->node.emplace(
        must(Node::create({.name = address.name,
                           .members = all,
                           .fabric = FabricChoice::shm,
                           .drive = mode_.one_thread ? Drive::caller : Drive::own_thread,
                           .suspect_after = std::chrono::seconds(20)})));
    member->group.emplace(
        must(member->node->join({.name = "plain",
                                 .window_bytes = kWindowBytes,
                                 .on_delivery = [seen = &member->seen](auto batch) {
                                   std::uint64_t sum = 0;
                                   for (const Message& message : batch) {
                                     std::uint64_t first = 0;
                                     std::memcpy(&first, message.data, sizeof first);
                                     sum += first;
                                   }
                                   seen->add(batch.size(), sum);
                                 }})));
    member->participant.emplace(must(DomainParticipant::create(
        *member->node, {.bundles = {{.name = "atomic", .window_bytes = kWindowBytes}}})));
    members_.push_back(std::move(member));
  }

  void open_topic(Member& member) const {
    const auto topic = must(Topic<Payload>::create(*member.participant, "topic"));
    ReaderListener<Payload> listener;
    if (mode_.each) {
      listener.on_sample = [seen = &member.seen](const Payload& sample, const SampleInfo&) {
        seen->add(1, sample.first);
      };
    } else {
      listener.on_samples = [seen = &member.seen](const SampleBatch<Payload>& batch) {
        std::uint64_t sum = 0;
        for (const auto& sample : batch) sum += sample.data().first;
        seen->add(batch.size(), sum);
      };
    }
    member.reader.emplace(must(DataReader<Payload>::create(topic, {}, std::move(listener))));
    member.writer.emplace(must(DataWriter<Payload>::create(
        topic, {.max_blocking_time = 10s, .source_timestamps = mode_.stamps})));
  }

  static void write(Member& member, bool topic) {
    const Payload payload{.first = 1, .rest = {}};
    const Result<Ticket> sent =
        topic ? member.writer->write(payload)
              : member.group->send(std::as_bytes(std::span(&payload, 1)), 10s);
    if (!sent) static_cast<void>(must(sent));
  }

  // Each writer fills half of its window, then all deliver all of it.
  void turn(std::size_t writers, bool topic) {
    constexpr std::size_t kBurst = std::min<std::size_t>(kWindowBytes / 2 / (kBytes + 24), 1024);
    for (std::size_t i = 0; i < writers; ++i) {
      for (std::size_t n = 0; n < kBurst; ++n) write(*members_[i], topic);
    }
    turned_ += writers * kBurst;
    const auto is_behind = [this](const auto& member) { return member->seen.deliveries < turned_; };
    while (std::ranges::any_of(members_, is_behind)) {
      for (const auto& member : members_) member->node->poll();
    }
  }

  const Mode mode_;
  std::vector<std::unique_ptr<Member>> members_;
  std::uint64_t turned_ = 0;  // deliveries by each member, of one thread
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <std::size_t kBytes>
void compare(std::size_t members, std::size_t writers, Mode mode, int rounds, double seconds) {
  Comparison<kBytes> comparison(members, mode);
  static_cast<void>(comparison.measure(writers, false, seconds));  // warms up
  static_cast<void>(comparison.measure(writers, true, seconds));
  std::vector<double> ratios;
  std::vector<double> group_rates;
  std::vector<double> topic_rates;
  std::vector<double> group_ns;
  std::vector<double> topic_ns;
  for (int round = 0; round < rounds; ++round) {
    const bool topic_first = round % 2 == 1;
    const Measured first = comparison.measure(writers, topic_first, seconds);
    const Measured second = comparison.measure(writers, !topic_first, seconds);
    const Measured& group = topic_first ? second : first;
    const Measured& topic = topic_first ? first : second;
    ratios.push_back(topic.processor_ns / group.processor_ns);
    group_rates.push_back(group.per_second);
    topic_rates.push_back(topic.per_second);
    group_ns.push_back(group.processor_ns);
    topic_ns.push_back(topic.processor_ns);
  }
  const auto [low, high] = std::ranges::minmax(ratios);
  std::printf(
      "{\"bytes\": %zu, \"members\": %zu, \"writers\": %zu, \"threads\": \"%s\", \"stamps\": %s, "
      "\"each\": %s, \"group_per_s\": %.0f, "
      "\"topic_per_s\": %.0f, \"group_ns\": %.0f, \"topic_ns\": %.0f, \"ratio\": %.3f, "
      "\"ratio_min\": %.3f, \"ratio_max\": %.3f, \"rounds\": %d}\n",
      kBytes, members, writers, mode.one_thread ? "one" : "all", mode.stamps ? "true" : "false",
      mode.each ? "true" : "false", median(group_rates), median(topic_rates), median(group_ns),
      median(topic_ns), median(ratios), low, high, rounds);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tutti::dds

int main(int argc, char** argv) {
  const auto number = [&](int at, double otherwise) {
    return argc > at ? std::atof(argv[at]) : otherwise;
  };
  const double members = number(1, 3);
  const double rounds = number(2, 9);
  const double seconds = number(3, 0.5);
  const std::string_view threads = argc > 4 ? argv[4] : "all";
  const bool one = threads == "one";
  if (members < 1 || members > 16 || rounds < 1 || rounds > 1000 || !(seconds > 0) ||
      (!one && threads != "all")) {
    return std::fprintf(stderr, "usage: %s [MEMBERS] [ROUNDS] [SECONDS] [all|one]\n", argv[0]), 2;
  }
  const auto all = static_cast<std::size_t>(members);
  const int times = static_cast<int>(rounds);
  using tutti::dds::compare;
  using tutti::dds::Mode;
  for (const std::size_t writers : {std::size_t{1}, all}) {
    for (const Mode mode : {Mode{.one_thread = one}, Mode{.one_thread = one, .stamps = false},
                            Mode{.one_thread = one, .stamps = false, .each = true}}) {
      compare<64>(all, writers, mode, times, seconds);
      compare<1024>(all, writers, mode, times, seconds);
      compare<10240>(all, writers, mode, times, seconds);
    }
    if (writers == all) break;
  }
  return 0;
}
