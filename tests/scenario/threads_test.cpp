/// Nodes with threads of their own, several senders each, and delivery threads: one address space
/// and one mapping of each row, so that ThreadSanitizer sees every access.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "support/payload.hpp"
#include "support/world.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint32_t kNodes = 3;
constexpr std::uint32_t kSendersPerNode = 2;
constexpr std::uint64_t kMessages = 3000;  // per sending thread

struct Mark {
  std::uint64_t thread;  // over all nodes
  std::uint64_t number;
  bool operator==(const Mark&) const = default;
};

std::uint64_t seed_of(const Mark& mark) {
  return payload_seed(3, static_cast<std::uint32_t>(mark.thread), mark.number);
}

/// What one member delivered; written by the thread that delivers, read when it has ended.
struct Member {
  std::vector<Mark> sequence;
  bool broken = false;

  void take(std::span<const Message> batch) {
    for (const Message& message : batch) {
      Mark mark{};
      if (message.size < sizeof mark) {
        broken = true;
        return;
      }
      std::memcpy(&mark, message.data, sizeof mark);
      broken |= !payload_is(message.bytes().subspan(sizeof mark), seed_of(mark));
      sequence.push_back(mark);
    }
  }
};

void send_all(SendRing& ring, std::uint64_t thread) {
  Prng random(thread);
  for (Mark mark{thread, 0}; mark.number < kMessages; ++mark.number) {
    const auto size = static_cast<std::uint32_t>(sizeof mark + random.below(100));
    SendRing::Space space;
    while (ring.claim(size, space) != SendRing::Outcome::ok) sched_yield();
    std::memcpy(space.payload, &mark, sizeof mark);
    fill_payload({space.payload + sizeof mark, size - sizeof mark}, seed_of(mark));
    if (random.one_in(100)) {
      ring.abandon(space);
      --mark.number;  // and once more
    } else {
      ring.commit(space);
    }
  }
}

class Threads : public ::testing::TestWithParam<std::tuple<Level, DeliveryThread>> {
 protected:
  Threads() : members_(kNodes), world_(options()) {}

  WorldOptions options() {
    GroupOptions group = small_group("g", "abc", "abc", std::get<0>(GetParam()));
    group.delivery = std::get<1>(GetParam());
    group.window_bytes = 1 << 14;
    group.window_messages = 128;
    return {.seed = 1,
            .nodes = kNodes,
            .groups = {group},
            .on_delivery = [this](std::uint32_t node, std::span<const Message> batch) {
              members_[node].take(batch);
            }};
  }

  void start_node(std::uint32_t node) {
    World::Part& part = world_.part(node);
    threads_.emplace_back([this, node] {
      while (!done_.load()) {
        if (world_.turn(node) == 0) sched_yield();
      }
    });
    if (part.own_thread) {
      threads_.emplace_back([this, &part] {
        while (!done_.load()) {
          if (!part.machine->deliver_here()) sched_yield();
        }
      });
    }
    for (std::uint64_t i = 0; i < kSendersPerNode; ++i) {
      senders_.emplace_back([&part, thread = node * kSendersPerNode + i] {
        send_all(*part.machine->ring(), thread);
      });
    }
  }

  void run() {
    for (std::uint32_t node = 0; node < kNodes; ++node) start_node(node);
    for (std::thread& sender : senders_) sender.join();
    for (std::uint32_t node = 0; node < kNodes; ++node) world_.finish(world_.part(node));
    while (!world_.complete()) sched_yield();
    done_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

  std::vector<Member> members_;
  World world_;
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
  std::vector<std::thread> senders_;
};

TEST_P(Threads, DeliverTheSameEverywhere) {
  run();
  for (const Member& member : members_) {
    EXPECT_FALSE(member.broken);
    ASSERT_EQ(member.sequence.size(), kNodes * kSendersPerNode * kMessages);
    std::vector<std::uint64_t> next(kNodes * kSendersPerNode);
    for (const Mark& mark : member.sequence) {
      ASSERT_LT(mark.thread, next.size());
      ASSERT_EQ(mark.number, next[mark.thread]++) << "of thread " << mark.thread;
    }
    if (std::get<0>(GetParam()) != Level::unordered) {
      ASSERT_TRUE(std::ranges::equal(member.sequence, members_[0].sequence));
    }
  }
}

std::string level_and_thread_name(
    const ::testing::TestParamInfo<std::tuple<Level, DeliveryThread>>& group) {
  const std::string level = std::array{
      "Unordered", "Agreed", "Atomic"}[static_cast<std::size_t>(std::get<0>(group.param))];
  return level + (std::get<1>(group.param) == DeliveryThread::own ? "OwnThread" : "");
}

INSTANTIATE_TEST_SUITE_P(
    Groups, Threads,
    ::testing::Combine(::testing::Values(Level::atomic, Level::agreed, Level::unordered),
                       ::testing::Values(DeliveryThread::predicate, DeliveryThread::own)),
    level_and_thread_name);

}  // namespace
}  // namespace tutti::testing
