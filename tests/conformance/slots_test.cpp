/// F-slot of fabric.hpp, on every fabric whose peers come and go.
#include <atomic>
#include <thread>

#include "conformance/conformance.hpp"
#include "conformance/stream.hpp"

namespace tutti::testing {
namespace {

constexpr Slot kThird{2};
constexpr int kManyPolls = 10'000;  // a loss that there is has been found after so many

class FabricSlots : public FabricConformance {
 protected:
  /// Everything that a peer can leave behind is in the second one's replica of the first's row.
  static void fill_row(World& world, std::uint64_t word) {
    const Extent rest{kData, kSmallRow - kData};
    fill(world[0], rest, 1);
    world[0].fabric->write(kSecond, rest);
    world[0].send(kSecond, kWord, word);
    ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == word; }));
    ASSERT_TRUE(shows(world[1], kFirst, rest, 1));
  }

  /// Who posted goes on until all has landed, as F-wake wants it. Where that takes the target's
  /// polls it goes on for a while, in which it wakes the target.
  static void drain(Node& node) {
    if (GetParam().lands_by_polling) {
      for (int i = 0; i < kManyPolls; ++i) node.poll();
      return;
    }
    const Deadline deadline;
    while (!node.fabric->drained()) {
      ASSERT_FALSE(deadline.passed());
      node.poll();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, FabricSlots, ::testing::ValuesIn(attaching_kinds()), kind_name);

TEST_P(FabricSlots, ASlotWithoutAPeerTakesPostsAndShowsZeros) {
  World& world = open(2, kSmallRow);
  Node& node = world[0];
  node.fabric->write(kSecond, {kData, 100});
  node.send(kSecond, kWord, 1);
  node.fabric->fence(kSecond);
  node.detach(kSecond);
  for (int i = 0; i < kManyPolls; ++i) node.poll();
  EXPECT_TRUE(node.fabric->drained());
  EXPECT_TRUE(shows_zeros(node, kSecond));
  EXPECT_TRUE(node.losses.empty());
  EXPECT_EQ(node.fabric->counters().writes, 0U);

  ASSERT_TRUE(join(0, 1));
  node.send(kSecond, kWord, 2);
  EXPECT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 2; }));
}

TEST_P(FabricSlots, APeerAttachedAtOneSideFirstLosesNothing) {
  World& world = open(3, kSmallRow);
  ASSERT_TRUE(join(0, 1));
  world[0].send(kSecond, kWord, 1);
  ASSERT_TRUE(join(0, 2));
  world[0].send(kThird, kOtherWord, 2);
  ASSERT_TRUE(join(1, 2));
  world[2].send(kSecond, kWord, 3);
  EXPECT_TRUE(world.eventually([&] {
    return world[1].load(kFirst, kWord) == 1 && world[2].load(kFirst, kOtherWord) == 2 &&
           world[1].load(kThird, kWord) == 3;
  }));
}

TEST_P(FabricSlots, ASecondPeerInOneSlotIsRefusedAndTheFirstStays) {
  World& world = start(2, kSmallRow);
  const Result<void> again = join(0, 1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  world[0].send(kSecond, kWord, 1);
  world[1].send(kFirst, kWord, 2);
  EXPECT_TRUE(world.eventually(
      [&] { return world[1].load(kFirst, kWord) == 1 && world[0].load(kSecond, kWord) == 2; }));
  for (int i = 0; i < kManyPolls; ++i) {
    world[0].poll();
    world[1].poll();
  }
  EXPECT_TRUE(world[0].losses.empty() && world[1].losses.empty());
}

TEST_P(FabricSlots, ALostPeersRowStaysUntilTheDetachAndDoesNotShowInTheNext) {
  World& world = start(2, kSmallRow);
  fill_row(world, 5);
  const std::byte* row = world[1].fabric->row(kFirst);
  world.kill(0);
  ASSERT_TRUE(world.eventually([&] { return !world[1].losses.empty(); }));
  EXPECT_EQ(world[1].fabric->row(kFirst), row);
  EXPECT_EQ(world[1].load(kFirst, kWord), 5U);
  world[1].detach(kFirst);
  EXPECT_TRUE(shows_zeros(world[1], kFirst));

  restart(0);
  ASSERT_TRUE(join(0, 1));
  EXPECT_TRUE(shows_zeros(world[1], kFirst));
  EXPECT_TRUE(shows_zeros(world[0], kSecond, kData));
  world[0].send(kSecond, kWord, 7);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 7; }));
  EXPECT_TRUE(shows_zeros(world[1], kFirst, kWord + 8));
  for (int i = 0; i < kManyPolls; ++i) world[1].poll();
  EXPECT_EQ(world[1].losses.size(), 1U) << "of the first one only";
  world.kill(0);
  ASSERT_TRUE(world.eventually([&] { return world[1].losses.size() == 2; }));
  EXPECT_EQ(world[1].load(kFirst, kWord), 7U);
}

TEST_P(FabricSlots, ALossNotTakenBeforeTheDetachIsForgotten) {
  World& world = start(2, kSmallRow);
  world.kill(0);
  for (int i = 0; i < kManyPolls; ++i) world[1].fabric->poll();
  world[1].detach(kFirst);
  EXPECT_TRUE(world[1].fabric->take_losses().empty());
  restart(0);
  ASSERT_TRUE(join(0, 1));
  for (int i = 0; i < kManyPolls; ++i) world[1].poll();
  EXPECT_TRUE(world[1].losses.empty());
}

TEST_P(FabricSlots, ALiveDetachedPeerLosesWhoDetachedIt) {
  World& world = start(3, kSmallRow);
  world[0].send(kSecond, kWord, 1);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 1; }));
  world[1].send(kFirst, kWord, 2);
  ASSERT_TRUE(world.eventually_drained());
  world[1].detach(kFirst);
  ASSERT_TRUE(world.eventually([&] { return !world[0].losses.empty(); }));
  EXPECT_EQ(world[0].losses[0].peer, kSecond);
  EXPECT_EQ(world[0].load(kSecond, kWord), 2U) << "what was drained has landed";
  world[0].send(kSecond, kWord, 3);
  for (int i = 0; i < kManyPolls; ++i) {
    for (const auto& node : world.nodes) node->poll();
  }
  EXPECT_EQ(world[0].losses.size(), 1U);
  EXPECT_TRUE(world[1].losses.empty()) << "who detaches knows already";
  EXPECT_TRUE(world[2].losses.empty());
  EXPECT_TRUE(shows_zeros(world[1], kFirst));
}

TEST_P(FabricSlots, AFencedPeersSlotIsFreeAfterTheDetach) {
  World& world = start(2, kSmallRow);
  fill_row(world, 5);
  world[1].fabric->fence(kFirst);
  EXPECT_FALSE(join(1, 0)) << "fenced, but still there";
  world.kill(0);
  world[1].detach(kFirst);
  restart(0);
  ASSERT_TRUE(join(0, 1));
  EXPECT_TRUE(shows_zeros(world[1], kFirst));
  world[0].send(kSecond, kWord, 6);
  world[1].send(kFirst, kWord, 7);
  EXPECT_TRUE(world.eventually(
      [&] { return world[1].load(kFirst, kWord) == 6 && world[0].load(kSecond, kWord) == 7; }));
  EXPECT_TRUE(world[1].losses.empty());
}

TEST_P(FabricSlots, PostsNotFlushedGoWithThePeer) {
  World& world = start(2, kSmallRow);
  world[1].store(kWord, 8);
  world[1].publish(kFirst, kWord);
  world[1].fabric->write(kFirst, {kData, 100});
  world[1].detach(kFirst);
  EXPECT_TRUE(world[1].fabric->drained());
  world[0].detach(kSecond);
  world[1].store(kWord, 0);
  ASSERT_TRUE(join(0, 1));
  world[1].fabric->flush();
  world[1].send(kFirst, kOtherWord, 9);
  ASSERT_TRUE(world.eventually([&] { return world[0].load(kSecond, kOtherWord) == 9; }));
  EXPECT_EQ(world[0].load(kSecond, kWord), 0U);
}

TEST_P(FabricSlots, CountersCountOnOverADetach) {
  World& world = start(2, kSmallRow);
  for (std::uint64_t i = 1; i <= 10; ++i) world[0].send(kSecond, kWord, i);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 10; }));
  ASSERT_TRUE(world.eventually_drained());
  const FabricCounters before = world[0].fabric->counters();
  EXPECT_GT(before.writes, 0U);
  world[0].detach(kSecond);
  const FabricCounters after = world[0].fabric->counters();
  EXPECT_EQ(after.writes, before.writes);
  EXPECT_EQ(after.bytes, before.bytes);
  EXPECT_EQ(after.doorbells, before.doorbells);
  EXPECT_EQ(after.posting_ns, before.posting_ns);
}

TEST_P(FabricSlots, FWakeAPeerAttachedLaterWakesASleeper) {
  World& world = open(2, kSmallRow);
  for (std::uint64_t round = 1; round <= 30; ++round) {
    ASSERT_TRUE(join(0, 1));
    std::atomic<bool> asleep = false;
    std::atomic<bool> failed = false;
    std::thread sleeper([&] {
      Node& node = world[1];
      const Deadline deadline;
      const auto is_there = [&] { return node.load(kFirst, kWord) == round; };
      while (!is_there() && !failed) {
        node.sleep_unless([&] {
          asleep = true;
          return is_there();
        });
        if (deadline.passed()) failed = true;
      }
    });
    while (!asleep) std::this_thread::yield();
    world[0].send(kSecond, kWord, round);
    drain(world[0]);
    sleeper.join();
    ASSERT_FALSE(failed);
    ASSERT_TRUE(world.eventually_drained());
    world[0].detach(kSecond);
    world[1].detach(kFirst);
  }
}

TEST_P(FabricSlots, FWakeAPeerThatSleepsAlreadyWhenItIsAttachedIsWoken) {
  World& world = open(2, kSmallRow);
  Node& node = world[1];
  for (std::uint64_t round = 1; round <= 10; ++round) {
    const Deadline deadline;
    node.fabric->arm();
    ASSERT_TRUE(join(0, 1));
    world[0].send(kSecond, kWord, round);
    drain(world[0]);
    node.sleeper->sleep(Deadline::sleep());
    node.fabric->disarm();
    while (node.load(kFirst, kWord) < round) {
      ASSERT_FALSE(deadline.passed());
      node.sleep_unless([&] { return node.load(kFirst, kWord) == round; });
    }
    ASSERT_FALSE(deadline.passed()) << "it was not woken";
    world[0].detach(kSecond);
    node.detach(kFirst);
    // What the detach leaves on the Sleeper would wake it in the next round.
    for (int i = 0; i < 10; ++i) node.sleeper->sleep(std::chrono::nanoseconds(0));
  }
}

TEST_P(FabricSlots, APeerDetachedWhileArmedLeavesNoHarmOnTheSleeper) {
  World& world = start(3, kSmallRow);
  Node& node = world[1];
  for (std::uint64_t round = 1; round <= 10; ++round) {
    node.fabric->arm();
    if (round % 2 == 0) world.kill(0);  // the waits may have ended, and nobody was told yet
    node.detach(kFirst);
    world[2].send(kSecond, kWord, round);
    drain(world[2]);
    const Deadline deadline;
    while (node.load(kThird, kWord) < round) {
      ASSERT_FALSE(deadline.passed());
      node.sleeper->sleep(Deadline::sleep());
      node.poll();
      node.fabric->disarm();
      node.fabric->arm();
    }
    node.fabric->disarm();
    if (round % 2 == 1) world.kill(0);
    restart(0);
    ASSERT_TRUE(join(0, 1));
  }
  EXPECT_TRUE(node.losses.empty());
}

TEST_P(FabricSlots, AStreamGoesOnWhileAPeerComesAndDiesFiftyTimes) {
  const StreamOptions options{.messages = 20'000};
  World& world = open(3, Stream::row_bytes(3, options));
  ASSERT_TRUE(join(0, 1));
  Stream first(world[0], 2, options);
  Stream second(world[1], 2, options);
  const auto stream_until = [&](const std::function<bool()>& condition) {
    const Deadline deadline;  // of one round: fifty take as long as the machine is slow
    while (!condition()) {
      ASSERT_FALSE(deadline.passed());
      first.step();
      second.step();
      if (world[2].fabric != nullptr) world[2].poll();
      ASSERT_FALSE(first.broken() || second.broken());
    }
  };
  std::size_t losses_at_least = 0;
  for (std::uint64_t round = 1; round <= 50; ++round) {
    restart(2);
    ASSERT_TRUE(join(2, 0));
    ASSERT_TRUE(join(2, 1));
    ASSERT_TRUE(shows_zeros(world[0], kThird) && shows_zeros(world[1], kThird));
    for (const std::size_t other : {0U, 1U}) {
      world[other].send(kThird, kOtherWord, round);
      world[2].send(Slot{static_cast<std::uint32_t>(other)}, kOtherWord, round);
    }
    ASSERT_NO_FATAL_FAILURE(stream_until([&] {
      return world[0].load(kThird, kOtherWord) == round &&
             world[1].load(kThird, kOtherWord) == round &&
             world[2].load(kFirst, kOtherWord) == round &&
             world[2].load(kSecond, kOtherWord) == round;
    }));
    // It dies with posts to it on their way.
    world[0].fabric->write(kThird, {kData, 1000});
    world[0].publish(kThird, kOtherWord);
    world.kill(2);
    if (round % 2 == 0) {
      ++losses_at_least;
      const std::size_t before = world[0].losses.size();
      ASSERT_TRUE(world.eventually([&] { return world[0].losses.size() == before + 1; }));
    }
    world[0].detach(kThird);
    world[1].detach(kThird);
  }
  ASSERT_NO_FATAL_FAILURE(stream_until([&] { return first.done() && second.done(); }));
  for (const std::size_t other : {0U, 1U}) {
    for (const PeerLoss& loss : world[other].losses) EXPECT_EQ(loss.peer, kThird);
    EXPECT_LE(world[other].losses.size(), 50U);
  }
  EXPECT_GE(world[0].losses.size(), losses_at_least);
}

}  // namespace
}  // namespace tutti::testing
