/// F-order, F-control and F-data of fabric.hpp, on every fabric.
#include <atomic>
#include <thread>

#include "conformance/conformance.hpp"
#include "sst/memory.hpp"

namespace tutti::testing {
namespace {

class FabricPosts : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricPosts, ::testing::ValuesIn(fabric_kinds()), kind_name);

class FabricReplicas : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricReplicas, ::testing::ValuesIn(replicating_kinds()), kind_name);

class FabricRemote : public FabricConformance {};
INSTANTIATE_TEST_SUITE_P(All, FabricRemote, ::testing::ValuesIn(remote_kinds()), kind_name);

TEST_P(FabricPosts, RowsAreZeroAtFirst) {
  World& world = start(3, kSmallRow);
  for (std::uint32_t reader = 0; reader < 3; ++reader) {
    for (std::uint32_t peer = 0; peer < 3; ++peer) {
      if (peer == reader) continue;
      EXPECT_TRUE(shows_zeros(world[reader], Slot{peer}));
    }
  }
}

TEST_P(FabricPosts, APublishedWordArrives) {
  World& world = start(2, kSmallRow);
  world[0].send(kSecond, kWord, 42);
  EXPECT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 42; }));
  EXPECT_TRUE(world.eventually_drained());
  EXPECT_TRUE(world[0].losses.empty() && world[1].losses.empty());
}

TEST_P(FabricReplicas, PollCountsWhatLands) {
  if (GetParam().one_sided) GTEST_SKIP() << "what lands by itself is not counted";
  World& world = start(2, kSmallRow);
  const Deadline deadline;
  world[0].send(kSecond, kWord, 42);
  std::size_t landed = 0;
  while (landed == 0 && !deadline.passed()) {
    world[0].poll();
    landed = world[1].fabric->poll();
  }
  EXPECT_GT(landed, 0U);
}

TEST_P(FabricPosts, FControlPublishTakesItsBytesAtTheCall) {
  World& world = start(2, kSmallRow);
  world[0].store(kWord, 1);
  world[0].publish(kSecond, kWord);
  world[0].store(kWord, 2);
  world[0].send(kSecond, kOtherWord, 1);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kOtherWord) == 1; }));
  EXPECT_EQ(world[1].load(kFirst, kWord), GetParam().shares_rows ? 2U : 1U);
}

TEST_P(FabricPosts, FControlAnOlderValueNeverOvertakesANewer) {
  World& world = start(2, kSmallRow);
  constexpr std::uint64_t kLast = 3000;
  std::uint64_t posted = 0;
  std::uint64_t seen = 0;
  bool backwards = false;
  ASSERT_TRUE(world.eventually([&] {
    for (int i = 0; i < 3 && posted < kLast; ++i) world[0].send(kSecond, kWord, ++posted);
    const std::uint64_t now = world[1].load(kFirst, kWord);
    backwards |= now < seen;
    seen = now;
    return seen == kLast;
  }));
  EXPECT_FALSE(backwards);
}

TEST_P(FabricPosts, FControlManyWordsOfOnePostAllArrive) {
  World& world = start(2, kSmallRow);
  constexpr std::uint64_t kWords = 200;
  for (std::uint64_t round = 1; round <= 20; ++round) {
    for (std::uint64_t i = 0; i < kWords; ++i) world[0].store(kWord + 8 * i, round * 1000 + i);
    world[0].publish(kSecond, kWord, kWords);
    world[0].fabric->flush();
    ASSERT_TRUE(world.eventually([&] {
      for (std::uint64_t i = 0; i < kWords; ++i) {
        if (world[1].load(kFirst, kWord + 8 * i) != round * 1000 + i) return false;
      }
      return true;
    }));
  }
}

TEST_P(FabricPosts, FOrderWhoSeesTheSecondPostSeesTheFirst) {
  World& world = start(2, kSmallRow);
  constexpr std::uint64_t kLast = 2000;
  std::uint64_t posted = 0;
  bool overtaken = false;
  ASSERT_TRUE(world.eventually([&] {
    if (posted < kLast) {
      ++posted;
      world[0].send(kSecond, kWord, posted);
      world[0].send(kSecond, kOtherWord, posted);
    }
    const std::uint64_t second = world[1].load(kFirst, kOtherWord);  // read before the first
    const std::uint64_t first = world[1].load(kFirst, kWord);
    overtaken |= second > first;
    return second == kLast;
  }));
  EXPECT_FALSE(overtaken);
}

// A block whose guard is taken away, refilled and guarded anew, all in one burst. The reader has a
// thread of its own, so that it may look in the middle of what lands.
TEST_P(FabricPosts, FOrderAGuardThatGoesAndComesBackIsNeverSeenAsOneStep) {
  constexpr std::size_t kWords = 1500;  // the guard is the first of them
  constexpr std::uint64_t kLast = 100;
  World& world = start(2, kData + kWords * 8);
  std::atomic<std::uint64_t> seen = 0;
  std::atomic<bool> stop = false;
  std::atomic<bool> as_one_step = false;
  std::thread reader([&] {
    while (!stop) {
      world[1].poll();
      const std::uint64_t guard = world[1].load(kFirst, kData);
      for (std::size_t i = kWords; i-- > 1;) {
        if (world[1].load(kFirst, kData + 8 * i) < guard) as_one_step = true;
      }
      if (guard != 0) seen = guard;
      std::this_thread::yield();
    }
  });
  const Deadline deadline;
  for (std::uint64_t round = 1; round <= kLast && !deadline.passed(); ++round) {
    world[0].store(kData, 0);
    for (std::size_t i = 1; i < kWords; ++i) world[0].store(kData + 8 * i, round);
    world[0].publish(kSecond, kData, kWords);
    world[0].store(kData, round);
    world[0].publish(kSecond, kData, kWords);
    world[0].fabric->flush();
    while (seen < round && !deadline.passed()) {
      world[0].poll();
      std::this_thread::yield();
    }
  }
  stop = true;
  reader.join();
  EXPECT_EQ(seen, kLast);
  EXPECT_FALSE(as_one_step);
}

TEST_P(FabricPosts, FOrderDataIsThereWhenItsGuardIs) {
  World& world = start(2, kSmallRow);
  const Extent data{kData + 3, 1001};
  for (std::uint8_t round = 1; round <= 100; ++round) {
    fill(world[0], data, round);
    world[0].fabric->write(kSecond, data);
    world[0].send(kSecond, kWord, round);
    ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == round; }));
    ASSERT_TRUE(shows(world[1], kFirst, data, round)) << "round " << int{round};
  }
}

TEST_P(FabricPosts, FDataAWriteOfMegabytesArrives) {
  constexpr std::size_t kBytes = 5 * 1024 * 1024 + 13;
  World& world = start(2, kData + kBytes);
  const Extent data{kData, kBytes};
  for (std::uint8_t round = 1; round <= 3; ++round) {
    fill(world[0], data, round);
    world[0].fabric->write(kSecond, data);
    world[0].send(kSecond, kWord, round);
    ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == round; }));
    ASSERT_TRUE(shows(world[1], kFirst, data, round)) << "round " << int{round};
  }
}

// A heartbeat may wait behind the data; the data itself shows that the peer lives.
TEST_P(FabricRemote, MuchDataIsHeardWithoutWords) {
  constexpr std::uint32_t kBytes = 8 * 1024 * 1024;
  World& world = start(2, kData + kBytes);
  const std::uint64_t before = world[1].fabric->heard(kFirst);
  world[0].fabric->write(kSecond, {kData, kBytes});
  world[0].fabric->flush();
  EXPECT_TRUE(world.eventually([&] { return world[1].fabric->heard(kFirst) > before; }));
  ASSERT_TRUE(world.eventually_drained());
  world[1].poll();
  const std::uint64_t last = world[1].fabric->heard(kFirst);
  for (int poll = 0; poll < 100; ++poll) world[1].poll();
  EXPECT_EQ(world[1].fabric->heard(kFirst), last) << "nothing arrives any more";
}

TEST_P(FabricReplicas, FDataNeighboursOfAWriteStayAsTheyAre) {
  World& world = start(2, kSmallRow);
  fill(world[0], {kData, 100}, 1);
  const Extent middle{kData + 33, 34};
  world[0].fabric->write(kSecond, middle);
  world[0].send(kSecond, kWord, 1);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 1; }));
  EXPECT_TRUE(shows(world[1], kFirst, middle, static_cast<std::uint8_t>(1 + 33 * 7)));
  EXPECT_EQ(world[1].fabric->row(kFirst)[kData + 32], std::byte{0});
  EXPECT_EQ(world[1].fabric->row(kFirst)[kData + 67], std::byte{0});
}

TEST_P(FabricPosts, FReplicaIsTheRowUnlessThatIsShared) {
  World& world = start(2, kSmallRow);
  world[0].send(kSecond, kWord, 42);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 42; }));
  std::byte* const replica = world[1].fabric->replica(kFirst);
  if (GetParam().shares_rows) {
    EXPECT_EQ(replica, nullptr);
    return;
  }
  ASSERT_EQ(replica, world[1].fabric->row(kFirst));
  store_cell(replica + kOtherWord, 43);
  EXPECT_EQ(world[1].load(kFirst, kOtherWord), 43U);
  world.kill(0);  // also once the peer is gone
  ASSERT_TRUE(world.eventually([&] { return !world[1].losses.empty(); }));
  ASSERT_EQ(world[1].fabric->replica(kFirst), replica);
  store_cell(replica + kData, 44);
  EXPECT_EQ(world[1].load(kFirst, kData), 44U);
}

TEST_P(FabricPosts, TheRowsLastBytesCanBePosted) {
  World& world = start(2, kSmallRow);
  const Extent end{kSmallRow - 21, 13};
  fill(world[0], end, 9);
  world[0].fabric->write(kSecond, end);
  world[0].send(kSecond, kSmallRow - 8, 77);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kSmallRow - 8) == 77; }));
  EXPECT_TRUE(shows(world[1], kFirst, end, 9));
}

TEST_P(FabricPosts, ManyPostsWithoutAPollAllLand) {
  constexpr std::uint64_t kPosts = 20000;
  constexpr std::uint32_t kBytes = 64;
  World& world = start(2, kData + kPosts * kBytes);
  for (std::uint64_t i = 0; i < kPosts; ++i) {
    const Extent data{kData + i * kBytes, kBytes - 1};
    fill(world[0], data, static_cast<std::uint8_t>(i));
    world[0].fabric->write(kSecond, data);
    world[0].store(kWord, i + 1);
    world[0].publish(kSecond, kWord);
    if (i % 100 == 0) world[0].fabric->flush();
  }
  world[0].fabric->flush();
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == kPosts; }));
  for (std::uint64_t i = 0; i < kPosts; ++i) {
    const Extent data{kData + i * kBytes, kBytes - 1};
    ASSERT_TRUE(shows(world[1], kFirst, data, static_cast<std::uint8_t>(i))) << i;
  }
  EXPECT_TRUE(world.eventually_drained());
}

TEST_P(FabricPosts, PostsAreCountedAndNobodyAwakeIsRung) {
  World& world = start(2, kSmallRow);
  for (std::uint64_t i = 1; i <= 10; ++i) world[0].send(kSecond, kWord, i);
  ASSERT_TRUE(world.eventually([&] { return world[1].load(kFirst, kWord) == 10; }));
  EXPECT_GT(world[0].fabric->counters().writes, 0U);
  EXPECT_EQ(world[0].fabric->counters().doorbells, 0U) << "nobody slept";
}

}  // namespace
}  // namespace tutti::testing
