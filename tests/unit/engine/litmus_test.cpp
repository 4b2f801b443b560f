// Nodes that try their paths over a fabric that keeps its contract, as badly as it may, and over
// one that does not.
#include "engine/litmus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "support/aligned_row.hpp"
#include "support/faulty_fabric.hpp"
#include "support/local_fabric.hpp"

namespace tutti::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::size_t kOffset = 64;
constexpr std::uint32_t kRounds = 20;

/// Lets every so many-th write go after the words that were published behind it.
class GuardFirst final : public Fabric {
 public:
  GuardFirst(std::unique_ptr<Fabric> inner, std::uint32_t one_in)
      : inner_(std::move(inner)), one_in_(one_in) {}

  [[nodiscard]] const std::byte* row(Slot peer) const override { return inner_->row(peer); }
  [[nodiscard]] std::byte* replica(Slot peer) override { return inner_->replica(peer); }
  void write(Slot peer, Extent data) override {
    if (++writes_ % one_in_ != 0) return inner_->write(peer, data);
    held_.emplace_back(peer, data);
  }
  void publish(Slot peer, std::uint64_t offset, std::span<const std::byte> words) override {
    inner_->publish(peer, offset, words);
  }
  void flush() override { inner_->flush(); }
  std::size_t poll() override {
    for (; !held_.empty(); held_.pop_back()) {
      inner_->write(held_.back().first, held_.back().second);
    }
    return inner_->poll();
  }
  [[nodiscard]] bool drained() const override { return held_.empty() && inner_->drained(); }
  [[nodiscard]] std::vector<PeerLoss> take_losses() override { return inner_->take_losses(); }
  void fence(Slot peer) override { inner_->fence(peer); }
  void hang_up(Slot peer) override { inner_->hang_up(peer); }
  void arm() override { inner_->arm(); }
  void disarm() override { inner_->disarm(); }
  [[nodiscard]] FabricCounters counters() const override { return inner_->counters(); }

 private:
  std::unique_ptr<Fabric> inner_;
  std::uint32_t one_in_;
  std::uint32_t writes_ = 0;
  std::vector<std::pair<Slot, Extent>> held_;
};

struct Tried {
  explicit Tried(std::size_t bytes) : row(bytes) {}
  AlignedRow row;
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<Litmus<NativeMemory>> litmus;
  std::vector<std::uint32_t> good;

  void pass() {
    fabric->poll();
    Effects effects(*fabric);
    litmus->step(effects);
    effects.carry_out();
    fabric->flush();
    for (const Slot slot : litmus->take_good()) good.push_back(slot.value);
  }
};

class LitmusTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kNodes = 4;
  using Wrap = std::function<std::unique_ptr<Fabric>(std::unique_ptr<Fabric>, std::uint32_t)>;

  LitmusTest() {
    open([](std::unique_ptr<Fabric> inner, std::uint32_t slot) {
      return std::make_unique<FaultyFabric>(std::move(inner), FaultyOptions{.seed = slot + 1});
    });
  }

  void open(const Wrap& wrap) {
    const std::size_t bytes = kOffset + litmus_bytes(kNodes);
    nodes.clear();
    cluster = std::make_unique<LocalCluster>(std::vector<std::size_t>(kNodes, bytes));
    for (std::uint32_t slot = 0; slot < kNodes; ++slot) {
      Tried& node = nodes.emplace_back(bytes);
      node.fabric = wrap(cluster->fabric(Slot{slot}, node.row.data()), slot);
      node.litmus = std::make_unique<Litmus<NativeMemory>>(
          ViewMember{Slot{slot}, 100 + slot}, kNodes, kRounds, node.row.data(), kOffset,
          [&node](Slot peer) { return node.fabric->row(peer); });
    }
  }

  void meet(std::uint32_t a, std::uint32_t b) {
    nodes[a].litmus->begin(Slot{b}, 100 + b);
    nodes[b].litmus->begin(Slot{a}, 100 + a);
  }

  void run(int passes) {
    for (int i = 0; i < passes; ++i) {
      for (Tried& node : nodes) node.pass();
    }
  }

  std::unique_ptr<LocalCluster> cluster;
  std::deque<Tried> nodes;
};

TEST_F(LitmusTest, PathsThatKeepTheirPromiseAreGood) {
  for (std::uint32_t a = 0; a < kNodes; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) meet(a, b);
  }
  run(3000);
  EXPECT_THAT(nodes[0].good, UnorderedElementsAre(1, 2, 3));
  EXPECT_THAT(nodes[3].good, UnorderedElementsAre(0, 1, 2));
  for (const Tried& node : nodes) EXPECT_FALSE(node.litmus->finding());
}

TEST_F(LitmusTest, NobodyIsGoodBeforeAllRoundsAreThrough) {
  meet(0, 1);
  for (std::uint32_t i = 0; i < kRounds; ++i) run(1);
  EXPECT_THAT(nodes[0].good, IsEmpty());
}

TEST_F(LitmusTest, LaterOnesAreTriedWhileEarlierOnesAreDone) {
  meet(0, 1);
  run(100);
  meet(0, 2);
  run(100);
  meet(1, 2);
  meet(0, 3);
  run(3000);
  EXPECT_THAT(nodes[0].good, UnorderedElementsAre(1, 2, 3));
  EXPECT_THAT(nodes[1].good, UnorderedElementsAre(0, 2));
  EXPECT_THAT(nodes[2].good, UnorderedElementsAre(0, 1));
}

TEST_F(LitmusTest, OneThatGoesHoldsNobodyUp) {
  meet(0, 1);
  meet(0, 2);
  run(10);
  nodes[0].litmus->end(Slot{1});
  run(3000);
  EXPECT_THAT(nodes[0].good, UnorderedElementsAre(2));
  EXPECT_THAT(nodes[2].good, UnorderedElementsAre(0));
  EXPECT_THAT(nodes[1].good, IsEmpty());
}

TEST_F(LitmusTest, WhatWasSaidToAnEarlierIncarnationIsNotMeant) {
  nodes[0].litmus->begin(Slot{1}, 77);  // the one before
  nodes[1].litmus->begin(Slot{0}, 100);
  run(500);
  EXPECT_THAT(nodes[1].good, IsEmpty());
  nodes[0].litmus->begin(Slot{1}, 101);
  run(3000);
  EXPECT_THAT(nodes[0].good, UnorderedElementsAre(1));
  EXPECT_THAT(nodes[1].good, UnorderedElementsAre(0));
}

TEST_F(LitmusTest, AGuardThatIsSeenBeforeItsDataIsFound) {
  open([](std::unique_ptr<Fabric> inner, std::uint32_t slot) -> std::unique_ptr<Fabric> {
    if (slot != 1) return inner;
    return std::make_unique<GuardFirst>(std::move(inner), 7);
  });
  meet(0, 1);
  meet(1, 2);
  run(3000);
  ASSERT_TRUE(nodes[0].litmus->finding());
  EXPECT_EQ(nodes[0].litmus->finding()->slot, Slot{1});
  EXPECT_THAT(
      nodes[0].litmus->finding()->what,
      HasSubstr("its guard was seen before 8192 bytes of its data, from byte 0 of 8192 on"));
  EXPECT_THAT(nodes[0].good, IsEmpty());
  EXPECT_FALSE(nodes[1].litmus->finding()) << "what it hears is in order";
}

}  // namespace
}  // namespace tutti::testing
