/// \file run_time_groups_end_test.cpp
/// Members that come out of groups that they joined after the start otherwise than by a leave that
/// waits, and what a callback that does not return has to do with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gate.hpp"
#include "heard.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

TEST(RunTimeGroupEnds, OfAMemberThatLeavesTheCluster) {
  TestCluster cluster(with_places(3, 1));
  cluster.start();
  Heard b;
  Heard c;
  Group at_b = joined(cluster, 1, b.group("x"));
  Group at_c = joined(cluster, 2, c.group("x"));
  for (int i = 0; i < 100; ++i) send(at_c, std::to_string(i));
  const Result<void> left = cluster.leave(2);
  ASSERT_TRUE(left) << left.error().message;
  ASSERT_TRUE(until([&] { return b.has("99"); }));
  send(at_b, "alone");
  ASSERT_TRUE(until([&] { return b.has("alone"); }));
  EXPECT_EQ(b.texts().size(), 101U);
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupEnds, ComeThoughNobodyWaitsAndTheHandleIsGone) {
  TestCluster cluster(with_places(2, 1));
  cluster.start();
  Heard a;
  Gate gate;
  GroupOptions slow = small_group();
  slow.name = "x";
  slow.on_delivery = [&gate](std::span<const Message>) { gate.pass(); };
  Group at_b = joined(cluster, 1, slow);
  {
    Group at_a = joined(cluster, 0, a.group("x"));
    gate.shut();
    send(at_a, "slow");
    ASSERT_TRUE(until([&] { return gate.reached(); }));
    EXPECT_FALSE(at_a.leave(0s));
  }
  const Result<Group> early = cluster.node(0).join(a.group("x"), 10ms);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::timed_out);
  EXPECT_THAT(early.error().message, HasSubstr("still leaves the one of that name"));
  gate.open();
  ASSERT_TRUE(cluster.node(0).join(a.group("x"), kPatience));
  leave(at_b);
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupEnds, DoNotWaitForACallbackOfAnotherGroup) {
  ClusterOptions with = with_places(2, 1);
  Gate gate;
  TestCluster cluster(with);
  cluster.life(0).in_delivery = [&gate] { gate.pass(); };
  cluster.start();
  Heard a;
  Heard b;
  gate.shut();
  send(cluster.group(1), "stuck");
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  Group at_b = joined(cluster, 1, b.group("x"));
  leave(at_b);
  const Result<Group> untold = cluster.node(0).join(a.group("x"), 1s);
  ASSERT_FALSE(untold);
  EXPECT_THAT(untold.error().message, HasSubstr("callbacks keep it from being told"));
  gate.open();
  ASSERT_TRUE(until([&] { return cluster.node(0).join(a.group("x"), kPatience).has_value(); }));
  Group again = joined(cluster, 1, b.group("x"));
  send(again, "both");
  ASSERT_TRUE(until([&] { return a.has("both") && b.has("both"); }));
  EXPECT_EQ(a.texts().size(), 1U);
  expect_ok(cluster.stop());
}

}  // namespace
}  // namespace tutti
