/// \file allocation_test.cpp
/// Sending and delivering allocates nothing once it runs: the program's own operator new counts.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "support/loopback.hpp"
#include "tutti/tutti.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

// So many of a page or more are given yet; negative: any.
std::atomic<int> pages_left{-1};
constexpr std::size_t kPage = 4096;
// So many of any size are given yet, then one is not; negative: any.
std::atomic<int> any_left{-1};

void* counted(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (size >= kPage && pages_left.load() >= 0 && pages_left.fetch_sub(1) == 0) {
    throw std::bad_alloc();
  }
  if (any_left.load() >= 0 && any_left.fetch_sub(1) == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// GCC sees through some of these at -O1 and then takes free() for a mistake.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tutti {
namespace {

using namespace std::chrono_literals;

// Members in this process, so that one counter sees them all.
void run(FabricChoice fabric) {
  constexpr int kMembers = 3;
  constexpr std::uint64_t kWarmUp = 30'000;
  constexpr std::uint64_t kMessages = 100'000;
  const std::vector<MemberAddress> addresses = loopback_members(kMembers);
  std::atomic<int> warm{0};
  std::atomic<int> finished{0};
  std::atomic<std::uint64_t> before{0};
  std::atomic<std::uint64_t> after{0};
  const auto reach = [](std::atomic<int>& count, std::atomic<std::uint64_t>& mark) {
    if (count.fetch_add(1) + 1 == kMembers) mark = allocations.load();
    while (count.load() < kMembers) std::this_thread::yield();
  };
  const auto member = [&](int index) {
    auto node = Node::create({.name = addresses[static_cast<std::size_t>(index)].name,
                              .members = addresses,
                              .fabric = fabric,
                              .suspect_after = 60s});
    ASSERT_TRUE(node);
    auto group = node->join({.name = "log"});
    ASSERT_TRUE(group);
    const Result<void> started = node->start();
    ASSERT_TRUE(started) << started.error().message;
    const auto send = [&](std::uint64_t count) {
      Result<Ticket> last{Ticket{}};
      for (std::uint64_t i = 0; i < count; ++i) {
        last = group->send("a message of a usual size, neither short nor long", 60s);
        ASSERT_TRUE(last);
      }
      ASSERT_TRUE(group->wait(*last, 60s));
    };
    send(kWarmUp);
    reach(warm, before);
    send(kMessages);
    reach(finished, after);
    EXPECT_TRUE(node->stop(60s));
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kMembers);
    for (int i = 0; i < kMembers; ++i) threads.emplace_back(member, i);
  }
  // Growing a table or a queue for good is allowed; anything per message is not.
  EXPECT_LT(after - before, kMessages / 1000);
}

TEST(Allocation, ShmSendsAndDeliversWithoutAllocating) { run(FabricChoice::shm); }
TEST(Allocation, TcpSendsAndDeliversWithoutAllocating) { run(FabricChoice::tcp); }

// A group of one: what it needs is taken on the caller's thread, and in its first view on its own.
TEST(Memory, ThatIsRefusedEndsTheStartWithAnError) {
  int refused = 0;
  std::set<std::string> messages;
  for (;; ++refused) {
    ASSERT_LT(refused, 1000);
    auto node = Node::create({.name = "a", .members = loopback_members(1)});
    ASSERT_TRUE(node);
    ASSERT_TRUE(node->join({.name = "log"}));
    pages_left = refused;
    const Result<void> started = node->start();
    if (pages_left.exchange(-1) >= 0 && started) break;
    if (started) continue;  // it could do without
    EXPECT_EQ(started.error().code, ErrorCode::system);
    EXPECT_NE(started.error().message.find("no memory"), std::string::npos)
        << started.error().message;
    EXPECT_NE(started.error().message.find("smaller window"), std::string::npos);
    messages.insert(started.error().message.substr(0, 20));
  }
  EXPECT_EQ(messages.size(), 2U) << "of both threads";
}

class MemoryAtRunTime : public ::testing::TestWithParam<Drive> {
 protected:
  void start() {
    Result<Node> created =
        Node::create({.name = "a", .members = loopback_members(1), .drive = GetParam()});
    ASSERT_TRUE(created);
    node.emplace(std::move(*created));
    ASSERT_TRUE(node->reserve(group(), 1));
    const Result<void> started = node->start();
    ASSERT_TRUE(started) << started.error().message;
  }
  // With a callback that takes memory.
  static GroupOptions group() {
    return {.name = "a group with a name that takes memory",
            .on_delivery = [large = std::array<char, 100>()](std::span<const Message>) {
              static_cast<void>(large);
            }};
  }
  Result<void> join_and_leave() {
    Result<Group> joined = node->join(group(), 60s);
    return joined ? joined->leave(60s) : std::unexpected(joined.error());
  }

  std::optional<Node> node;
};

INSTANTIATE_TEST_SUITE_P(Drive, MemoryAtRunTime,
                         ::testing::Values(Drive::own_thread, Drive::caller),
                         [](const auto& drive) {
                           return drive.param == Drive::caller ? "caller" : "own_thread";
                         });

// Of the thread that joins it costs the join; of the node's own, the node, which says so.
TEST_P(MemoryAtRunTime, ThatIsRefusedEndsTheJoinWithAnErrorAndNothingElse) {
  int joins = 0;
  int nodes = 0;
  bool all = false;
  for (int refused = 0; !all; ++refused) {
    ASSERT_LT(refused, 10'000);
    if (!node) {
      ASSERT_NO_FATAL_FAILURE(start());
    }
    GroupOptions options = group();
    any_left = refused;
    Result<Group> joined = node->join(std::move(options), 60s);
    all = any_left.exchange(-1) >= 0 && joined;
    if (joined) static_cast<void>(joined->leave(60s));
    if (!joined) {
      EXPECT_EQ(joined.error().code, ErrorCode::system);
      // Where there was none for the whole text either, the error says no more.
      EXPECT_NE(joined.error().message.find("no memory"), std::string::npos)
          << joined.error().message;
      if (!node->failure()) ++joins;
    }
    const Result<void> again = join_and_leave();
    if (!again) {
      ASSERT_TRUE(node->failure()) << again.error().message;
      EXPECT_NE(node->failure()->message.find("there is no memory"), std::string::npos)
          << node->failure()->message;
      ++nodes;
      node.reset();
    }
  }
  EXPECT_GT(joins, 0);
  EXPECT_GT(nodes, 0);
}

}  // namespace
}  // namespace tutti
