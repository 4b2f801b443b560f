/// F-wake, F-loss and F-fence of fabric.hpp, on every fabric.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace tutti::testing {
namespace {

class FabricPeers : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricPeers, ::testing::ValuesIn(fabric_kinds()), kind_name);

TEST_P(FabricPeers, FWakeAPostWakesItsSleepingTarget) {
  World& world = start(2, kSmallRow);
  constexpr std::uint64_t kRounds = 300;
  std::atomic<bool> failed = false;
  Draining draining(2);
  // Word by word: each answers the other's last one, and sleeps until it is there.
  const auto play = [&](Node& node, Slot peer, std::uint64_t lead) {
    const Deadline deadline;
    for (std::uint64_t round = 1; round <= kRounds && !failed; ++round) {
      if (lead == 1) node.send(peer, kWord, round);
      while (node.load(peer, kWord) < round && !failed) {
        node.sleep_unless([&] { return node.load(peer, kWord) >= round; });
        if (deadline.passed()) failed = true;
      }
      if (lead == 0) node.send(peer, kWord, round);
    }
    bool drained = false;
    while (draining.step(node, drained) && !deadline.passed()) {
    }
  };
  std::thread second([&] { play(world[1], kFirst, 0); });
  play(world[0], kSecond, 1);
  second.join();
  EXPECT_FALSE(failed);
}

TEST_P(FabricPeers, FWakeAPostMadeBeforeTheSleepIsSeenByTheLastPoll) {
  World& world = start(2, kSmallRow);
  for (std::uint64_t round = 1; round <= 50; ++round) {
    world[0].send(kSecond, kWord, round);
    ASSERT_TRUE(world.eventually([&] { return world[0].fabric->drained(); }));
    const Deadline deadline;
    while (world[1].load(kFirst, kWord) < round) {
      ASSERT_FALSE(deadline.passed());
      world[1].sleep_unless([&] { return world[1].load(kFirst, kWord) == round; });
    }
  }
}

TEST_P(FabricPeers, FLossIsReportedOnceAndAfterAllThatLanded) {
  World& world = start(3, kSmallRow);
  world[0].send(kSecond, kWord, 5);
  world[2].send(kSecond, kWord, 6);
  ASSERT_TRUE(world.eventually_drained());
  world.kill(0);
  ASSERT_TRUE(world.eventually([&] { return !world[1].losses.empty(); }));
  EXPECT_EQ(world[1].losses[0].peer, kFirst);
  EXPECT_FALSE(world[1].losses[0].reason.empty());
  EXPECT_EQ(world[1].load(kFirst, kWord), 5U) << "what landed is seen with the loss";
  EXPECT_EQ(world[1].load(Slot{2}, kWord), 6U);
  ASSERT_TRUE(world.eventually([&] { return !world[2].losses.empty(); }));
  for (int i = 0; i < 10'000; ++i) {
    world[1].poll();
    world[2].poll();
  }
  EXPECT_EQ(world[1].losses.size(), 1U);
  EXPECT_EQ(world[2].losses.size(), 1U);
}

TEST_P(FabricPeers, FLossDestroysNothingThatWasDrained) {
  constexpr std::uint32_t kMuch = 4U << 20;  // more than a leaver still reads
  for (int round = 0; round < 10; ++round) {
    World& world = start(2, kData + kMuch);
    world[0].send(kSecond, kWord, 5);
    const auto drained = [&] { return world[0].fabric->drained(); };
    if (GetParam().lands_by_polling) {
      ASSERT_TRUE(world.eventually(drained));
    }
    const Deadline deadline;
    while (!drained() && !deadline.passed()) world[0].poll();
    // The one that leaves has not read this: over TCP it resets the connection.
    world[1].fabric->write(kFirst, {kData, kMuch});
    world[1].fabric->flush();
    world.kill(0);
    ASSERT_TRUE(world.eventually([&] { return !world[1].losses.empty(); }));
    EXPECT_EQ(world[1].load(kFirst, kWord), 5U);
  }
}

TEST_P(FabricPeers, FLossSurvivorsGoOn) {
  World& world = start(3, kSmallRow);
  world.kill(0);
  world[1].send(kFirst, kWord, 1);  // to the dead: lands nowhere, harms nothing
  world[1].send(Slot{2}, kWord, 1);
  ASSERT_TRUE(
      world.eventually([&] { return !world[1].losses.empty() && !world[2].losses.empty(); }));
  world[1].send(kFirst, kWord, 2);
  world[1].send(Slot{2}, kWord, 2);
  ASSERT_TRUE(world.eventually([&] { return world[2].load(kSecond, kWord) == 2; }));
  EXPECT_TRUE(world.eventually_drained());
  world[1].fabric->fence(kFirst);
  world[1].poll();
  EXPECT_EQ(world[1].losses.size(), 1U);
}

TEST_P(FabricPeers, FLossWakesASleeper) {
  World& world = start(2, kSmallRow);
  std::atomic<bool> asleep = false;
  std::thread sleeper([&] {
    Node& node = world[1];
    const Deadline deadline;
    while (node.losses.empty() && !deadline.passed()) {
      node.sleep_unless([&] {
        asleep = true;
        return !node.losses.empty();
      });
      node.poll();
    }
  });
  while (!asleep) std::this_thread::yield();
  world.kill(0);
  sleeper.join();
  ASSERT_EQ(world[1].losses.size(), 1U);
  EXPECT_EQ(world[1].losses[0].peer, kFirst);
}

TEST_P(FabricPeers, FFenceKeepsTheRowAsItIs) {
  World& world = start(3, kSmallRow);
  world[0].send(kSecond, kWord, 1);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 1; }));
  const std::byte* row = world[1].fabric->row(kFirst);
  world[1].fabric->fence(kFirst);
  world[0].send(kSecond, kWord, 2);
  world[0].send(Slot{2}, kWord, 2);
  ASSERT_TRUE(world.eventually([&] { return world[2].load(kFirst, kWord) == 2; }));
  ASSERT_TRUE(world.eventually([&] { return !world[0].losses.empty(); }));
  for (int i = 0; i < 100; ++i) world[1].poll();
  EXPECT_EQ(world[1].fabric->row(kFirst), row);
  EXPECT_EQ(world[1].load(kFirst, kWord), 1U);
  EXPECT_EQ(world[0].losses[0].peer, kSecond);
  EXPECT_TRUE(world[1].losses.empty()) << "who fences knows already";
  EXPECT_TRUE(world[2].losses.empty());
}

// Some of what it posted is still here, some on its way, some at the peer, which has not looked;
// and it does not know, or does not care, and goes on.
TEST_P(FabricPeers, FFenceKeepsOutAZombieWithPostsOnTheirWay) {
  constexpr std::uint32_t kMuch = 256U << 10;
  World& world = start(2, kData + kMuch);
  const std::byte* const row = world[1].fabric->row(kFirst);
  std::uint64_t word = 0;
  for (; word < 200; ++word) {
    world[0].fabric->write(kSecond, {kData, kMuch});
    world[0].send(kSecond, kWord, word + 1);
    if (word % 16 == 0) world[0].poll();
  }
  world[1].fabric->fence(kFirst);
  const std::vector<std::byte> before(row, row + kData + kMuch);
  const Deadline deadline;
  for (int after = 0; after < 200 || world[0].losses.empty(); ++after) {
    ASSERT_FALSE(deadline.passed());
    fill(world[0], {kData, 4000}, static_cast<std::uint8_t>(++word));
    world[0].fabric->write(kSecond, {kData, 4000});
    world[0].send(kSecond, kWord, word);
    world[0].poll();
    world[1].poll();
  }
  EXPECT_EQ(world[1].fabric->row(kFirst), row);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), row));
}

// Much of what is posted is still on this side when it hangs up. Where rows are shared nothing ever
// waits, and all that it writes is seen.
TEST_P(FabricPeers, FDataWhatChangesAfterTheHangUpIsNotSeenWithItsGuard) {
  if (GetParam().shares_rows) GTEST_SKIP();
  constexpr std::uint32_t kPosts = 16;
  constexpr std::uint32_t kEach = 256U << 10;
  World& world = start(3, kData + kPosts * kEach);
  const auto part = [](std::uint32_t i) { return Extent{kData + i * kEach, kEach}; };
  for (std::uint32_t i = 0; i < kPosts; ++i) fill(world[0], part(i), 1);
  for (std::uint32_t i = 0; i < kPosts; ++i) {
    world[0].fabric->write(kSecond, part(i));
    world[0].send(kSecond, kWord, i + 1);
  }
  world[0].fabric->hang_up(kSecond);
  for (std::uint32_t i = 0; i < kPosts; ++i) fill(world[0], part(i), 2);
  world[0].fabric->write(kSecond, part(0));
  world[0].send(kSecond, kWord, kPosts + 1);
  world[0].send(Slot{2}, kWord, 1);
  ASSERT_TRUE(world.eventually([&] { return world[2].load(kFirst, kWord) == 1; }));
  ASSERT_TRUE(world.eventually([&] { return !world[1].losses.empty(); }));
  ASSERT_LE(world[1].load(kFirst, kWord), kPosts);
  for (std::uint32_t i = 0; i < world[1].load(kFirst, kWord); ++i) {
    EXPECT_TRUE(shows(world[1], kFirst, part(i), 1)) << i;
  }
  EXPECT_TRUE(world[0].losses.empty()) << "who hangs up knows already";
  EXPECT_TRUE(world[2].losses.empty());
}

TEST_P(FabricPeers, FFenceDuringTrafficLeavesAGuardedRow) {
  World& world = start(2, kSmallRow);
  const Extent data{kData, 3000};
  for (std::uint8_t round = 1; round <= 20; ++round) {
    fill(world[0], data, 1);  // always the same bytes: only whether they are there is asked
    world[0].fabric->write(kSecond, data);
    world[0].send(kSecond, kWord, round);
    world[0].poll();
    world[1].poll();
  }
  world[1].fabric->fence(kFirst);
  const std::uint64_t guard = world[1].load(kFirst, kWord);
  if (guard > 0) {
    EXPECT_TRUE(shows(world[1], kFirst, data, 1));
  }
  for (int i = 0; i < 1000; ++i) world[0].poll();
  world[1].poll();
  EXPECT_EQ(world[1].load(kFirst, kWord), guard);
}

}  // namespace
}  // namespace tutti::testing
