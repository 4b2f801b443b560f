/// What the local fabric has beyond the contract: links that are cut, nodes that are killed.
#include "support/local_fabric.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <thread>

namespace tutti::testing {
namespace {

constexpr std::size_t kLocalRowBytes = 4096;
constexpr std::uint32_t kNodes = 3;

class LocalFabricTest : public ::testing::Test {
 protected:
  LocalFabricTest() {
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      fabrics_.at(i) = cluster_.fabric(Slot{i}, rows_.at(i).data(), [this, i] { ++wakes_.at(i); });
    }
  }

  void send(std::uint32_t from, std::uint32_t to, std::uint64_t value) {
    fabrics_.at(from)->publish(Slot{to}, 64, std::as_bytes(std::span(&value, 1)));
    fabrics_.at(from)->flush();
  }

  std::uint64_t load(std::uint32_t at, std::uint32_t peer) {
    const std::byte* row = fabrics_.at(at)->row(Slot{peer});
    return reinterpret_cast<const std::atomic<std::uint64_t>*>(row + 64)->load();
  }

  std::vector<PeerLoss> losses(std::uint32_t at) {
    fabrics_.at(at)->poll();
    return fabrics_.at(at)->take_losses();
  }

  LocalCluster cluster_{std::vector<std::size_t>(kNodes, kLocalRowBytes)};
  std::array<std::array<std::byte, kLocalRowBytes>, kNodes> rows_{};
  std::array<std::atomic<int>, kNodes> wakes_{};
  std::array<std::unique_ptr<Fabric>, kNodes> fabrics_;
};

TEST_F(LocalFabricTest, CountsThePostsThatLanded) {
  send(0, 1, 1);
  send(2, 1, 1);
  EXPECT_EQ(fabrics_[1]->poll(), 2U);
  EXPECT_EQ(fabrics_[1]->poll(), 0U);
  EXPECT_EQ(fabrics_[0]->counters().writes, 1U);
  EXPECT_EQ(fabrics_[0]->counters().bytes, 8U);
}

TEST_F(LocalFabricTest, CutStopsBothDirectionsOfOnePair) {
  send(0, 1, 1);
  cluster_.cut(Slot{0}, Slot{1});
  cluster_.cut(Slot{1}, Slot{0});
  send(0, 1, 2);
  send(1, 0, 2);
  send(0, 2, 2);
  EXPECT_EQ(load(1, 0), 1U);
  EXPECT_EQ(load(0, 1), 0U);
  EXPECT_EQ(load(2, 0), 2U);
  const std::vector<PeerLoss> first = losses(0);
  const std::vector<PeerLoss> second = losses(1);
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(first[0].peer, Slot{1});
  EXPECT_EQ(second[0].peer, Slot{0});
  EXPECT_TRUE(losses(2).empty());
}

TEST_F(LocalFabricTest, KillIsSeenByAllOthersOnce) {
  cluster_.kill(Slot{2});
  cluster_.kill(Slot{2});
  cluster_.cut(Slot{1}, Slot{2});
  send(2, 0, 5);
  EXPECT_EQ(load(0, 2), 0U);
  EXPECT_EQ(losses(0).size(), 1U);
  EXPECT_EQ(losses(1).size(), 1U);
  EXPECT_TRUE(losses(2).empty()) << "the dead hear nothing";
}

TEST_F(LocalFabricTest, WakesOnlyWhoSleeps) {
  send(0, 1, 1);
  EXPECT_EQ(wakes_[1], 0);
  fabrics_[1]->arm();
  send(0, 1, 2);
  EXPECT_EQ(wakes_[1], 1);
  cluster_.kill(Slot{2});
  EXPECT_EQ(wakes_[1], 2) << "a loss wakes as well";
  fabrics_[1]->disarm();
  send(0, 1, 3);
  EXPECT_EQ(wakes_[1], 2);
}

TEST_F(LocalFabricTest, LandsNothingAfterALossThatAnotherThreadCaused) {
  std::atomic<bool> stop = false;
  std::thread poster([&] {
    for (std::uint64_t value = 1; !stop; ++value) send(0, 1, value);
  });
  while (load(1, 0) == 0) std::this_thread::yield();
  std::thread cutter([&] { cluster_.cut(Slot{0}, Slot{1}); });
  while (losses(1).empty()) std::this_thread::yield();
  const std::uint64_t last = load(1, 0);
  for (int i = 0; i < 100; ++i) {
    std::this_thread::yield();
    ASSERT_EQ(load(1, 0), last);
  }
  stop = true;
  poster.join();
  cutter.join();
}

}  // namespace
}  // namespace tutti::testing
