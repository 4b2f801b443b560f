// What the lobby tells the node's other threads.
#include "node/bootstrap/desk.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

NodeOptions two_nodes() {
  return {.name = "a", .members = {{"a", "127.0.0.1:1"}, {"b", "127.0.0.1:2"}}};
}

// The node's thread may look for arrivals just as it is told of the failure.
TEST(Desk, KeepsAFailureThoughArrivalsAreTaken) {
  const NodeOptions node = two_nodes();
  Desk desk(node, {});
  EXPECT_FALSE(desk.has_failed());
  desk.fail({ErrorCode::stopped, "removed"});
  EXPECT_TRUE(desk.take_arrivals().empty());
  EXPECT_TRUE(desk.has_failed());
  ASSERT_TRUE(desk.failure());
  EXPECT_EQ(desk.failure()->message, "removed");
}

TEST(Desk, DoesNotFailAStartThatIsOver) {
  const NodeOptions node = two_nodes();
  Desk desk(node, {});
  desk.set_running();
  EXPECT_FALSE(desk.fail_start({ErrorCode::mismatch, "other options"}));
  EXPECT_FALSE(desk.has_failed());
}

}  // namespace
}  // namespace tutti
