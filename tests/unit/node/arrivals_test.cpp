// What the bootstrap tells the node's other threads.
#include "node/bootstrap/arrivals.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

NodeOptions two_nodes() {
  return {.name = "a", .members = {{"a", "127.0.0.1:1"}, {"b", "127.0.0.1:2"}}};
}

// The node's thread may look for arrivals just as it is told of the failure.
TEST(Arrivals, KeepsAFailureThoughArrivalsAreTaken) {
  const NodeOptions node = two_nodes();
  Arrivals arrivals(node, {});
  EXPECT_FALSE(arrivals.has_failed());
  arrivals.fail({ErrorCode::stopped, "removed"});
  EXPECT_TRUE(arrivals.take_arrivals().empty());
  EXPECT_TRUE(arrivals.has_failed());
  ASSERT_TRUE(arrivals.failure());
  EXPECT_EQ(arrivals.failure()->message, "removed");
}

TEST(Arrivals, DoesNotFailAStartThatIsOver) {
  const NodeOptions node = two_nodes();
  Arrivals arrivals(node, {});
  arrivals.set_running();
  EXPECT_FALSE(arrivals.fail_start({ErrorCode::mismatch, "other options"}));
  EXPECT_FALSE(arrivals.has_failed());
}

}  // namespace
}  // namespace tutti
