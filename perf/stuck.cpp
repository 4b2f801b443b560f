// Question: what do a member whose delivery callback is stuck, and the others, notice of it?
// Set-up: three nodes in this process; two send as fast as the window lets them; the third's
//         callback blocks once, for SECONDS. suspect_after 0.5 s, slow_after 1 s.
// Units:  milliseconds from the callback's return to that member's next delivery, and to the next
//         delivery at the others; views and warnings are counts.
// Usage:  stuck [shm|tcp] [SECONDS, default 60]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/loopback.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Member {
  std::optional<Node> node;
  std::optional<Group> group;
  std::atomic<std::uint64_t> delivered{0};
  std::atomic<std::uint64_t> views{0};
  std::atomic<std::int64_t> resumed_ns{0};  // its first delivery after the end of the block
};

std::atomic<bool> g_block{false};
std::atomic<bool> g_blocked{false};
std::atomic<std::int64_t> g_ended_ns{0};
std::atomic<bool> g_done{false};

std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

void deliver(Member& member, bool is_slow, std::chrono::duration<double> blocks,
             std::size_t messages) {
  if (g_ended_ns != 0 && member.resumed_ns == 0) member.resumed_ns = now_ns();
  if (is_slow && g_block.exchange(false)) {
    g_blocked = true;
    std::this_thread::sleep_for(blocks);
    g_ended_ns = now_ns();
  }
  member.delivered += messages;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

void create(Member& member, NodeOptions options, bool is_slow,
            std::chrono::duration<double> blocks) {
  options.on_view = [&member](const ViewChange&) { ++member.views; };
  options.log = [name = options.name](LogLevel level, std::string_view text) {
    if (level >= LogLevel::warning) {
      std::printf("  [%s] %.*s\n", name.c_str(), static_cast<int>(text.size()), text.data());
    }
  };
  Result<Node> node = Node::create(std::move(options));
  if (!node) give_up(node.error().message);
  member.node = std::move(*node);
  GroupOptions group{.name = "orders", .window_messages = 1024};
  group.on_delivery = [&member, is_slow, blocks](std::span<const Message> batch) {
    deliver(member, is_slow, blocks, batch.size());
  };
  Result<Group> joined = member.node->join(std::move(group));
  if (!joined) give_up(joined.error().message);
  member.group = *joined;
}

void start(std::vector<Member>& members) {
  std::vector<std::jthread> starts;
  for (Member& member : members) {
    starts.emplace_back([&member] {
      if (const Result<void> started = member.node->start(); !started) {
        give_up(started.error().message);
      }
    });
  }
}

void block_once(const std::vector<Member>& members, std::chrono::duration<double> blocks) {
  while (members[2].delivered < 100'000) std::this_thread::sleep_for(1ms);
  g_block = true;
  while (!g_blocked) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(blocks);
  const auto resumed = [](const Member& member) { return member.resumed_ns != 0; };
  while (!std::ranges::all_of(members, resumed) && !members[2].node->failure()) {
    std::this_thread::sleep_for(1ms);
  }
}

// Whether all are in their first view, and none has failed.
bool tell(const Member& member, const std::string& name) {
  const std::optional<Error> failure = member.node->failure();
  const double ms = static_cast<double>(member.resumed_ns - g_ended_ns) / 1e6;
  std::printf("%s: %llu views, next delivery %.3f ms after the callback's end%s%s\n", name.c_str(),
              static_cast<unsigned long long>(member.views.load()), ms, failure ? ", failed: " : "",
              failure ? failure->message.c_str() : "");
  return member.views == 1 && !failure;
}

// Whether all have delivered the same.
bool finish(std::vector<Member>& members) {
  bool good = true;
  for (Member& member : members) member.group->finish();
  for (Member& member : members) {
    if (const Result<void> ended = member.group->wait_complete(60s); !ended) {
      std::printf("%s\n", ended.error().message.c_str());
      good = false;
    }
  }
  for (std::size_t i = 1; i < members.size(); ++i) {
    good = good && members[i].delivered == members[0].delivered;
  }
  return good;
}

bool measure(FabricChoice fabric, std::chrono::duration<double> blocks,
             std::chrono::nanoseconds suspect_after) {
  const std::vector<MemberAddress> addresses = loopback_members(3);
  std::vector<Member> members(3);
  for (std::size_t i = 0; i < 3; ++i) {
    create(members[i],
           {.name = addresses[i].name,
            .members = addresses,
            .fabric = fabric,
            .suspect_after = suspect_after},
           i == 2, blocks);
  }
  start(members);
  std::vector<std::jthread> senders;
  for (std::size_t i = 0; i < 2; ++i) {
    senders.emplace_back([&member = members[i]] {
      while (!g_done) static_cast<void>(member.group->send("0123456789abcdef", 100ms));
    });
  }
  block_once(members, blocks);
  bool good = true;
  for (std::size_t i = 0; i < 3; ++i) good = tell(members[i], addresses[i].name) && good;
  g_done = true;
  senders.clear();
  good = finish(members) && good;
  std::printf("%s, %llu messages at each\n", good ? "nobody was removed" : "FAILED",
              static_cast<unsigned long long>(members[0].delivered.load()));
  return good;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const auto fabric = tutti::fabric_from(argc > 1 ? argv[1] : "shm");
  if (!fabric) tutti::give_up(fabric.error().message);
  const std::chrono::duration<double> blocks(argc > 2 ? std::atof(argv[2]) : 60.0);
  const std::chrono::duration<double> suspect_after(argc > 3 ? std::atof(argv[3]) : 0.5);
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(suspect_after);
  return tutti::measure(*fabric, blocks, ns) ? 0 : 1;
}
