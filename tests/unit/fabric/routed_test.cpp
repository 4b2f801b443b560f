#include "fabric/routed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "fabric/row_header.hpp"

namespace tutti {
namespace {

constexpr std::size_t kRoutedRowBytes = 256;

/// Writes down what it is asked to do.
class RecordingFabric final : public Fabric {
 public:
  explicit RecordingFabric(const RowHeader* header) : header_(header) {}

  [[nodiscard]] const std::byte* row(Slot) const override { return row_.data(); }
  [[nodiscard]] std::byte* replica(Slot) override { return row_.data(); }
  void write(Slot peer, Extent) override { log += "w" + std::to_string(peer.value); }
  void publish(Slot peer, std::uint64_t, std::span<const std::byte>) override {
    log += "p" + std::to_string(peer.value);
  }
  void flush() override { log += "f"; }
  std::size_t poll() override { return landed; }
  [[nodiscard]] bool drained() const override { return is_drained; }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override { return std::exchange(losses, {}); }
  void fence(Slot peer) override { log += "x" + std::to_string(peer.value); }
  void hang_up(Slot peer) override { log += "h" + std::to_string(peer.value); }
  void arm() override { log += header_->asleep % 2 == 1 ? "a" : "?"; }
  void disarm() override { log += header_->asleep % 2 == 0 ? "d" : "?"; }
  [[nodiscard]] FabricCounters counters() const override { return {1, 20, 3, 40}; }

  std::string log;
  std::size_t landed = 0;
  bool is_drained = true;
  std::vector<PeerLoss> losses;

 private:
  const RowHeader* header_;
  std::array<std::byte, kRoutedRowBytes> row_{};
};

/// 0 and 3 are reached through one fabric, 2 through the other; slot 1 has no peer.
class RoutedFabricTest : public ::testing::Test {
 protected:
  RoutedFabricTest() {
    std::vector<std::unique_ptr<Fabric>> fabrics;
    for (RecordingFabric*& inner : inner_) {
      auto fabric = std::make_unique<RecordingFabric>(&header());
      inner = fabric.get();
      fabrics.push_back(std::move(fabric));
    }
    routed_ = RoutedFabric::create(own_row_.data(), 4, kRoutedRowBytes, std::move(fabrics)).value();
    routed_->route(Slot{0}, *inner_[0]);
    routed_->route(Slot{2}, *inner_[1]);
    routed_->route(Slot{3}, *inner_[0]);
  }

  [[nodiscard]] bool shows_zeros(Slot peer) const {
    const std::byte* row = routed_->row(peer);
    return std::all_of(row, row + kRoutedRowBytes,
                       [](std::byte byte) { return byte == std::byte{0}; });
  }

  RowHeader& header() { return *reinterpret_cast<RowHeader*>(own_row_.data()); }

  alignas(64) std::array<std::byte, kRoutedRowBytes> own_row_{};
  std::array<RecordingFabric*, 2> inner_{};
  std::unique_ptr<RoutedFabric> routed_;
};

TEST_F(RoutedFabricTest, SendsEachPeersPostsToItsFabric) {
  routed_->write(Slot{0}, {64, 8});
  routed_->publish(Slot{2}, 64, {});
  routed_->write(Slot{3}, {64, 8});
  routed_->fence(Slot{2});
  routed_->hang_up(Slot{0});
  routed_->flush();
  EXPECT_EQ(inner_[0]->log, "w0w3h0f");
  EXPECT_EQ(inner_[1]->log, "p2x2f");
  EXPECT_EQ(routed_->row(Slot{3}), inner_[0]->row(Slot{3}));
  EXPECT_EQ(routed_->row(Slot{2}), inner_[1]->row(Slot{2}));
  EXPECT_EQ(routed_->replica(Slot{2}), inner_[1]->row(Slot{2}));
  EXPECT_EQ(routed_->replica(Slot{1}), nullptr);
}

TEST_F(RoutedFabricTest, TakesPostsToASlotWithoutAPeerAndShowsZerosThere) {
  routed_->write(Slot{1}, {64, 8});
  routed_->publish(Slot{1}, 64, {});
  routed_->fence(Slot{1});
  routed_->hang_up(Slot{1});
  EXPECT_EQ(inner_[0]->log + inner_[1]->log, "");
  EXPECT_TRUE(shows_zeros(Slot{1}));
}

TEST_F(RoutedFabricTest, ASlotChangesItsPeerAndFabric) {
  routed_->unroute(Slot{3});
  routed_->unroute(Slot{3});
  routed_->write(Slot{3}, {64, 8});
  EXPECT_TRUE(shows_zeros(Slot{3}));
  routed_->route(Slot{3}, *inner_[1]);
  routed_->write(Slot{3}, {64, 8});
  EXPECT_EQ(routed_->row(Slot{3}), inner_[1]->row(Slot{3}));
  EXPECT_EQ(inner_[0]->log, "");
  EXPECT_EQ(inner_[1]->log, "w3");
}

TEST_F(RoutedFabricTest, MergesWhatTheFabricsSay) {
  inner_[0]->landed = 2;
  inner_[1]->landed = 3;
  EXPECT_EQ(routed_->poll(), 5U);
  EXPECT_TRUE(routed_->drained());
  inner_[1]->is_drained = false;
  EXPECT_FALSE(routed_->drained());
  inner_[0]->losses = {{Slot{3}, "x"}};
  inner_[1]->losses = {{Slot{2}, "y"}};
  EXPECT_EQ(routed_->take_losses().size(), 2U);
  EXPECT_TRUE(routed_->take_losses().empty());
  const FabricCounters sum = routed_->counters();
  EXPECT_EQ(sum.writes, 2U);
  EXPECT_EQ(sum.bytes, 40U);
  EXPECT_EQ(sum.doorbells, 6U);
  EXPECT_EQ(sum.posting_ns, 80U);
}

TEST_F(RoutedFabricTest, AnnouncesItsSleepInTheOwnRow) {
  EXPECT_EQ(header().asleep, 0U);
  routed_->arm();
  EXPECT_EQ(header().asleep, 1U);
  routed_->disarm();
  EXPECT_EQ(header().asleep, 2U);
  routed_->arm();
  EXPECT_EQ(header().asleep, 3U);
  routed_->disarm();
  EXPECT_EQ(inner_[0]->log, "adad");
  EXPECT_EQ(inner_[1]->log, "adad");
}

}  // namespace
}  // namespace tutti
