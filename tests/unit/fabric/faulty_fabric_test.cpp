/// What the fault injector promises beyond the contract that all fabrics keep.
#include "support/faulty_fabric.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <set>

#include "support/local_fabric.hpp"

namespace tutti::testing {
namespace {

constexpr std::size_t kFaultyRowBytes = 4096;
constexpr Slot kFirst{0};
constexpr Slot kSecond{1};
constexpr Slot kThird{2};

/// Node 0 posts through a FaultyFabric to nodes 1 and 2.
class FaultyFabricTest : public ::testing::Test {
 protected:
  void start(const FaultyOptions& options) {
    faulty_ = std::make_unique<FaultyFabric>(cluster_.fabric(kFirst, row_.data()), options);
    second_ = cluster_.fabric(kSecond, other_row_.data());
    third_ = cluster_.fabric(kThird, other_row_.data());
  }

  void publish(Slot peer, std::uint64_t offset, std::uint64_t value) {
    faulty_->publish(peer, offset, std::as_bytes(std::span(&value, 1)));
  }

  static std::uint64_t load(const Fabric& fabric, std::uint64_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, fabric.row(kFirst) + offset, sizeof value);
    return value;
  }

  LocalCluster cluster_{{kFaultyRowBytes, kFaultyRowBytes, kFaultyRowBytes}};
  alignas(64) std::array<std::byte, kFaultyRowBytes> row_{};
  alignas(64) std::array<std::byte, kFaultyRowBytes> other_row_{};
  std::unique_ptr<FaultyFabric> faulty_;
  std::unique_ptr<Fabric> second_;
  std::unique_ptr<Fabric> third_;
};

TEST_F(FaultyFabricTest, ReordersBetweenPairs) {
  start({.seed = 3});
  std::set<bool> orders;
  for (std::uint64_t round = 1; round <= 50; ++round) {
    publish(kSecond, 64, round);
    publish(kThird, 64, round);
    while (!faulty_->drained()) {
      faulty_->poll();
      if (load(*second_, 64) != load(*third_, 64)) {
        orders.insert(load(*second_, 64) > load(*third_, 64));
      }
    }
  }
  EXPECT_EQ(orders.size(), 2U) << "each of the two was first some time";
}

TEST_F(FaultyFabricTest, LandsAPublishWordByWordInAnyOrder) {
  start({.seed = 3});
  bool half = false;
  bool backwards = false;
  for (std::uint64_t round = 1; round <= 50; ++round) {
    const std::array<std::uint64_t, 2> words{round, round};
    faulty_->publish(kSecond, 64, std::as_bytes(std::span(words)));
    while (!faulty_->drained()) {
      faulty_->poll();
      half |= load(*second_, 64) != load(*second_, 72);
      backwards |= load(*second_, 64) < load(*second_, 72);
    }
  }
  EXPECT_TRUE(half);
  EXPECT_TRUE(backwards);
}

TEST_F(FaultyFabricTest, LandsAWriteInPiecesAndReadsItLate) {
  start({.seed = 5, .delay_polls_max = 0});
  bool half = false;
  for (int round = 1; round <= 50; ++round) {
    faulty_->write(kSecond, {65, 1000});
    row_[65] = static_cast<std::byte>(round);  // too late for F-data: shows when it is read
    row_[1064] = static_cast<std::byte>(round);
    while (!faulty_->drained()) {
      faulty_->poll();
      half |= second_->row(kFirst)[65] != second_->row(kFirst)[1064];
    }
    EXPECT_EQ(second_->row(kFirst)[65], static_cast<std::byte>(round));
  }
  EXPECT_TRUE(half);
}

TEST_F(FaultyFabricTest, TakesTheWordsOfAPublishAtTheCall) {
  start({.seed = 1});
  std::uint64_t word = 5;
  faulty_->publish(kSecond, 64, std::as_bytes(std::span(&word, 1)));
  word = 6;
  while (!faulty_->drained()) faulty_->poll();
  EXPECT_EQ(load(*second_, 64), 5U);
}

TEST_F(FaultyFabricTest, DoesTheSameForTheSameSeed) {
  std::array<std::uint64_t, 2> polls{};
  for (std::uint64_t& count : polls) {
    cluster_ = LocalCluster({kFaultyRowBytes, kFaultyRowBytes, kFaultyRowBytes});
    start({.seed = 11});
    for (std::uint64_t i = 1; i <= 100; ++i) publish(kSecond, 64, i);
    for (; !faulty_->drained(); ++count) faulty_->poll();
  }
  EXPECT_EQ(polls[0], polls[1]);
  EXPECT_GT(polls[0], 50U);
}

TEST_F(FaultyFabricTest, HoldsNothingBackWhileItsNodeSleeps) {
  start({.seed = 2, .delay_polls_max = 1000});
  for (std::uint64_t i = 1; i <= 100; ++i) publish(kSecond, 64, i);
  faulty_->arm();
  EXPECT_TRUE(faulty_->drained());
  EXPECT_EQ(load(*second_, 64), 100U);
}

TEST_F(FaultyFabricTest, LosesAPeerWhoseLinkIsCutAtBothSides) {
  start({.seed = 2, .delay_polls_max = 1000});
  publish(kSecond, 64, 1);
  publish(kThird, 64, 1);
  faulty_->cut(kSecond);
  faulty_->cut(kSecond);
  publish(kSecond, 64, 2);
  while (!faulty_->drained()) faulty_->poll();
  second_->poll();
  EXPECT_EQ(load(*second_, 64), 0U) << "what waited is lost";
  EXPECT_EQ(load(*third_, 64), 1U) << "other links are whole";
  const std::vector<PeerLoss> losses = faulty_->take_losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].peer, kSecond);
  EXPECT_EQ(second_->take_losses().size(), 1U);
  EXPECT_TRUE(third_->take_losses().empty());
}

TEST_F(FaultyFabricTest, DropsWhatWaitsForAPeerThatIsLost) {
  start({.seed = 2, .delay_polls_max = 1000});
  publish(kSecond, 64, 1);
  cluster_.cut(kFirst, kSecond);
  faulty_->poll();
  EXPECT_EQ(faulty_->take_losses().size(), 1U);
  EXPECT_TRUE(faulty_->drained());
  EXPECT_EQ(load(*second_, 64), 0U);
}

}  // namespace
}  // namespace tutti::testing
