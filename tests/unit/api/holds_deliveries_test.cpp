/// Threads on which calls that wait are refused, because deliveries wait for these threads.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "cluster.hpp"

namespace tutti {
namespace {

TEST(HoldsDeliveriesOfAThread, MayEndInAnyOrder) {
  const std::string older = "the older";
  const std::string newer = "the newer";
  TestCluster cluster({.members = 1, .groups = {small_group()}});
  cluster.start();
  std::optional<HoldsDeliveries> first(std::in_place, cluster.group(0), older);
  std::optional<HoldsDeliveries> second(std::in_place, cluster.group(0), newer);
  first.reset();
  EXPECT_FALSE(cluster.group(0).may_wait("this call")) << "the newer one still holds them";
  second.reset();
  EXPECT_TRUE(cluster.group(0).may_wait("this call"));
}

}  // namespace
}  // namespace tutti
