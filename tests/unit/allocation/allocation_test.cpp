/// \file allocation_test.cpp
/// Sending and delivering allocates nothing once it runs: the program's own operator new counts.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
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

void* counted(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (size >= kPage && pages_left.load() >= 0 && pages_left.fetch_sub(1) == 0) {
    throw std::bad_alloc();
  }
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

}  // namespace
}  // namespace tutti
