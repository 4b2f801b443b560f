/// \file slow_log_test.cpp
/// A log callback that blocks: nothing waits for it but the end of its node.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"

namespace tutti {
namespace {

class SlowLog : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(On, SlowLog, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(SlowLog, HoldsUpNeitherStartNorViewsNorDeliveriesNorStop) {
  Gate gate;
  std::atomic<int> lines{0};
  TestCluster cluster({.fabric = GetParam(), .groups = {small_group()}},
                      [&](std::size_t member, NodeOptions& node) {
                        if (member != 2) return;
                        node.log = [&](LogLevel, std::string_view) {
                          gate.pass();
                          ++lines;
                        };
                      });
  gate.shut();
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  cluster.kill(0);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({1, 2}));
  ASSERT_TRUE(until([&] { return gate.reached(); })) << "that one was lost is said";
  expect_ok(cluster.stop());
  EXPECT_EQ(lines, 0);
  std::jthread end([&] { cluster.kill(2); });
  gate.open();
  end.join();
  EXPECT_NE(lines, 0) << "what was said is written before the node has ended";
}

// What was said while it blocked comes later, and in order.
TEST(SlowLogOf, ANodeThatFailsIsToldOfTheFailure) {
  Gate gate;
  LogBook book;
  TestCluster cluster({.members = 2, .groups = {small_group()}},
                      [&](std::size_t member, NodeOptions& node) {
                        if (member != 0) return;
                        node.log = [&](LogLevel level, std::string_view text) {
                          gate.pass();
                          book.note(level, text);
                        };
                      });
  cluster.start();
  gate.shut();
  cluster.kill(1);
  ASSERT_TRUE(until([&] { return cluster.node(0).failure().has_value(); }));
  const std::string why = cluster.node(0).failure()->message;
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  EXPECT_EQ(book.with(why), 0U);
  gate.open();
  EXPECT_TRUE(until([&] { return book.with(why) == 1; }));
}

}  // namespace
}  // namespace tutti
