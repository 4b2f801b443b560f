// Fabric::heard(): what arrives of a member is a sign of life, as its heartbeats are.
#include <gtest/gtest.h>

#include "membership/view_words.hpp"
#include "unit/membership/forged_cluster.hpp"

namespace tutti::testing {
namespace {

// What node 2 sends arrives at node 0, but its beats wait behind that.
TEST(Heard, NobodyWhosePostsArriveIsSuspected) {
  ForgedCluster cluster(3);
  ForgedNode& node = cluster.nodes[0];
  node.fabric.noisy = Slot{2};
  const auto watch = [&] {
    for (int i = 0; i < 20; ++i) {
      for (const std::uint32_t slot : {0U, 1U}) {
        cluster.nodes[slot].now_ns += MembershipOptions{}.suspect_after_ns / 8;
      }
      ++node.fabric.noise;
      node.pass();
      NativeMemory::store(cluster.rows[1].data() + ViewWords::kHeartbeat, 1000 + node.now_ns);
    }
  };
  watch();
  EXPECT_FALSE(node.membership->changing());
  node.fabric.noisy.reset();
  watch();
  EXPECT_TRUE(node.membership->changing());
}

}  // namespace
}  // namespace tutti::testing
