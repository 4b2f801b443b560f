#include "doctor/loopback.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include "tutti/tutti.hpp"

namespace tutti::doctor {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::array<std::uint32_t, 4> kSizes{8, 64, 1000, 10'000};
// Thousands of turns of two threads, each as late as the machine is busy. Only a path that is
// broken and does not say so takes all of it.
constexpr auto kPatience = 120s;

std::uint64_t word_of(std::uint64_t round, std::uint64_t at) {
  return (round + 1) * 0x9E3779B97F4A7C15ULL + at;
}

void fill(std::span<std::byte> message, std::uint64_t round) {
  for (std::size_t at = 0; at < message.size(); at += 8) {
    const std::uint64_t word = word_of(round, at);
    std::memcpy(message.data() + at, &word, 8);
  }
}

bool is_round(const Message& message, std::uint64_t round) {
  for (std::size_t at = 0; at < message.size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.data + at, 8);
    if (word != word_of(round, at)) return false;
  }
  return message.size == kSizes[round % kSizes.size()];
}

// What one member has been delivered. Its callback writes, who has taken a message of `heard`
// reads.
struct Ear {
  std::uint64_t wrong = 0;
  std::vector<Clock::time_point> times;  // of each round: its size stays
  std::uint64_t rounds = 0;
  std::counting_semaphore<> heard{0};

  void hear(std::span<const Message> batch) {
    const Clock::time_point now = Clock::now();
    for (const Message& message : batch) {
      if (!is_round(message, rounds)) ++wrong;
      if (rounds < times.size()) times[rounds] = now;
      ++rounds;
    }
    heard.release(std::ssize(batch));
  }
};

class Pair {
 public:
  Pair(const LoopbackOptions& options, const NodeOptions& fabric) : order_(options.order) {
    for (Ear& ear : ears_) ear.times.resize(options.rounds);
    for (const char* name : {"a", "b"}) {
      NodeOptions node{.name = name,
                       .members = {{"a", options.addresses[0]}, {"b", options.addresses[1]}},
                       .fabric = fabric.fabric,
                       .provider = fabric.provider,
                       .start_timeout = kPatience,
                       .suspect_after = kPatience,
                       .litmus_rounds = options.litmus_rounds};
      node.idle.yield = 1ms;
      options_.push_back(std::move(node));
    }
  }

  Result<void> start() {
    for (std::size_t i = 0; i < 2; ++i) {
      Result<Node> node = Node::create(options_[i]);
      if (!node) return std::unexpected(node.error());
      nodes_.push_back(std::move(*node));
      GroupOptions group{.name = "loopback", .senders = {"a"}, .order = order_};
      group.on_delivery = [ear = &ears_[i]](std::span<const Message> batch) { ear->hear(batch); };
      Result<Group> joined = nodes_[i].join(group);
      if (!joined) return std::unexpected(joined.error());
      if (i == 0) group_.emplace(*joined);
    }
    return both([](Node& node) { return node.start(); });
  }

  // The times that the 8-byte messages took, in ascending order.
  Result<std::vector<double>> talk(std::uint32_t rounds) {
    std::vector<double> took_ns;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t size = kSizes[round % kSizes.size()];
      const Clock::time_point begin = Clock::now();
      const Result<Ticket> sent =
          group_->send(size, [&](std::span<std::byte> bytes) { fill(bytes, round); }, kPatience);
      if (!sent) return std::unexpected(sent.error());
      if (Result<void> ok = group_->wait(*sent, kPatience); !ok) return std::unexpected(ok.error());
      if (!ears_[1].heard.try_acquire_for(kPatience)) {
        if (const std::optional<Error> why = nodes_[1].failure()) return std::unexpected(*why);
        return fail(ErrorCode::timed_out,
                    "round " + std::to_string(round) + ": one member delivers, the other does not");
      }
      if (size != kSizes[0]) continue;
      took_ns.push_back(
          std::chrono::duration<double, std::nano>(ears_[1].times[round] - begin).count());
    }
    std::ranges::sort(took_ns);
    return took_ns;
  }

  Result<void> stop() {
    return both([](Node& node) { return node.stop(kPatience); });
  }

  [[nodiscard]] std::uint64_t wrong() const { return ears_[0].wrong + ears_[1].wrong; }

 private:
  template <class Work>
  Result<void> both(const Work& work) {
    Result<void> other;
    {
      const std::jthread thread([&] { other = work(nodes_[1]); });
      if (Result<void> own = work(nodes_[0]); !own) return own;
    }
    return other;
  }

  std::array<Ear, 2> ears_;
  std::vector<NodeOptions> options_;
  const Order order_;
  std::optional<Group> group_;
  std::vector<Node> nodes_;  // last: gone before what their callbacks use
};

}  // namespace

Result<LoopbackResult> loopback(const LoopbackOptions& options) {
  NodeOptions fabric;
  if (const Result<void> ok = set_fabric(fabric, options.fabric); !ok) {
    return std::unexpected(ok.error());
  }
  Pair pair(options, fabric);
  if (const Result<void> ok = pair.start(); !ok) return std::unexpected(ok.error());
  const Result<std::vector<double>> times = pair.talk(options.rounds);
  if (!times) return std::unexpected(times.error());
  if (const Result<void> ok = pair.stop(); !ok) return std::unexpected(ok.error());
  return LoopbackResult{.wrong = pair.wrong(),
                        .median_ns = (*times)[times->size() / 2],
                        .p99_ns = (*times)[times->size() * 99 / 100]};
}

}  // namespace tutti::doctor
