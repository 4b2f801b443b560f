/// Others come from view k - 2 into view k, whose words lie in the same block, while somebody reads
/// them: L3. And what a block says while it is being prepared.
#include <gtest/gtest.h>

#include <functional>

#include "support/landing_memory.hpp"
#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

using Cluster = ForgedClusterOver<LandingMemory>;

/// Does something before the n-th load that one node makes from then on.
class AtLoad final : public BetweenLoads {
 public:
  void arm(std::uint32_t reader, std::uint64_t at_load, std::function<void()> act) {
    reader_ = reader;
    left_ = at_load;
    act_ = std::move(act);
  }
  /// It has not come to that load.
  [[nodiscard]] bool is_armed() const { return act_ != nullptr; }

 private:
  void before_load(Slot reader) override {
    if (act_ != nullptr && reader.value == reader_ && left_-- == 0) std::exchange(act_, {})();
  }

  std::uint32_t reader_ = 0;
  std::uint64_t left_ = 0;
  std::function<void()> act_;
};

// Of six members one is lost, then another: the first is in view 3 while the second, which has not
// heard of it, is in view 2; the block of view 3 in its row still says that it wedged in view 1.
TEST(NextView, NobodyWedgesForAWedgeOfTwoViewsAgo) {
  for (std::uint64_t at = 0;; ++at) {
    AtLoad world;
    Cluster cluster(6, 0, {&world, {}});
    cluster.nodes[0].membership->lost(Slot{5});
    cluster.run({0, 1, 2, 3, 4});
    cluster.nodes[0].membership->lost(Slot{4});
    cluster.run({0, 1, 2, 3}, 1);
    cluster.run({3, 2, 1}, 1);  // all have wedged and know it
    cluster.run({0, 2, 3});
    ASSERT_EQ(cluster.nodes[0].views.back().id, 3U);
    ASSERT_EQ(cluster.nodes[1].views.back().id, 2U);
    world.arm(0, at, [&] { cluster.run({1}, 5); });
    cluster.nodes[0].pass();
    ASSERT_FALSE(cluster.nodes[0].membership->changing()) << "the other came before load " << at;
    if (world.is_armed()) break;
    ASSERT_EQ(cluster.nodes[1].views.back().id, 3U);
  }
}

// It looks at the row of the first member, which has decided on view 2 in view 1. In view 3 that
// one has accepted a proposal with the joiner in it, and nobody else has.
TEST(NextView, WhoJoinsTakesNothingForDecidedBecauseAProposalTwoViewsAgoWas) {
  for (std::uint64_t at = 0;; ++at) {
    AtLoad world;
    Cluster cluster(5, 1, {&world, {}});
    const auto lose = [&](std::uint32_t slot) {
      for (const std::uint32_t other : {0U, 1U}) cluster.nodes[other].membership->lost(Slot{slot});
    };
    lose(3);
    cluster.run({0, 1, 2});
    for (const std::uint32_t slot : {0U, 1U})
      cluster.nodes[4].membership->ready(Slot{slot}, 100 + slot);
    const auto accepted = [&] {
      const std::size_t block = cluster.plan.rows.words.block(3);
      return NativeMemory::load(cluster.rows[0].data() + block + ViewWords::kAccepted);
    };
    world.arm(4, at, [&] {
      lose(2);
      cluster.run({0, 1});
      for (const std::uint32_t slot : {0U, 1U}) cluster.nodes[slot].membership->ready(Slot{4}, 104);
      for (int i = 0; i < 10 && accepted() == 0; ++i) cluster.run({1, 0}, 1);
    });
    cluster.nodes[4].pass();
    ASSERT_FALSE(cluster.nodes[4].membership->has_decided()) << "the other came before load " << at;
    ASSERT_TRUE(cluster.nodes[4].views.empty()) << "the other came before load " << at;
    if (world.is_armed()) break;
    ASSERT_EQ(cluster.nodes[0].views.back().id, 3U);
    ASSERT_NE(accepted(), 0U);
  }
}

// Between the acceptance of a proposal and its view, the number of the view's first message is not
// known: a joiner that reads it as 0 would begin there.
TEST(NextView, ABlockThatIsClearedSaysNoFirstNumber) {
  ForgedCluster cluster(3);
  cluster.nodes[0].membership->lost(Slot{2});
  const auto word = [&](ControlWords::Word column) {
    const GroupOffsets offsets = cluster.plan.rows.layouts[Slot{1}].offsets_of("g");
    return NativeMemory::load(cluster.rows[1].data() + offsets.control[0] + column);
  };
  const auto accepted = [&] {
    const std::size_t block = cluster.plan.rows.words.block(1);
    return NativeMemory::load(cluster.rows[1].data() + block + ViewWords::kAccepted);
  };
  for (int i = 0; i < 20 && accepted() == 0; ++i) cluster.run({0, 1}, 1);
  ASSERT_EQ(cluster.nodes[1].views.size(), 1U);
  EXPECT_EQ(word(ControlWords::kFirstSeq), 0U) << "unknown";
  cluster.run({0, 1});
  ASSERT_EQ(cluster.nodes[1].views.size(), 2U);
  EXPECT_EQ(word(ControlWords::kFirstSeq), 1U) << "0";
}

}  // namespace
}  // namespace tutti::testing
