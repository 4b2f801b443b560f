/// \file stuck_callback_test.cpp
/// A callback that does not return, or takes long: the member goes on answering the others, who
/// feel a full window and no failure.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "gate.hpp"

namespace tutti {
namespace {

// Short against what a callback takes here, long against what a busy machine keeps a thread
// waiting.
constexpr auto kSuspectAfter = 4000ms;

// So long that each member that is silent all the while is removed.
bool long_after(std::chrono::steady_clock::time_point begin) {
  return until([&] { return std::chrono::steady_clock::now() - begin > 3 * kSuspectAfter / 2; });
}

// Nobody was removed, and all were delivered the same.
void expect_one_view(TestCluster& cluster) {
  cluster.expect_one_story();
  for (std::size_t member = 0; member < cluster.size(); ++member) {
    EXPECT_EQ(cluster.journal(member).stretches().size(), 1U) << "member " << member;
  }
}

class StuckCallback : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(On, StuckCallback, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(StuckCallback, RemovesNobodyAndLosesNothing) {
  TestCluster cluster(
      {.fabric = GetParam(), .groups = {small_group()}, .suspect_after = kSuspectAfter});
  Gate gate;
  cluster.life(2).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  const std::size_t there = cluster.journal(2).messages();
  ASSERT_TRUE(long_after(std::chrono::steady_clock::now()));
  // What it has received is stable, so the others were delivered it.
  EXPECT_GT(cluster.journal(0).messages(), there);
  EXPECT_EQ(cluster.journal(2).messages(), there);
  for (std::size_t member = 0; member < 3; ++member) {
    EXPECT_FALSE(cluster.node(member).failure());
    EXPECT_EQ(cluster.node(member).view().members.size(), 3U);
  }
  gate.open();
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  expect_one_view(cluster);
}

// It has given all that it will give in one pass, and each call alone is short.
TEST_P(StuckCallback, ManyShortOnesInARowAreAsOne) {
  std::vector<GroupOptions> groups;
  for (const char* name : {"log", "b", "c", "d", "e", "f", "g", "h"}) {
    groups.push_back(small_group());
    groups.back().name = name;
  }
  const auto each = kSuspectAfter / 5;
  TestCluster cluster({.fabric = GetParam(), .groups = groups, .suspect_after = kSuspectAfter});
  cluster.life(2).in_delivery = [&] {
    const auto end = std::chrono::steady_clock::now() + each;
    static_cast<void>(until([&] { return std::chrono::steady_clock::now() > end; }));
  };
  cluster.start();
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < 3 * kSuspectAfter / 2) {
    for (std::size_t group = 0; group < groups.size(); ++group) {
      ASSERT_TRUE(cluster.group(0, group).send("x", kPatience));
    }
  }
  expect_ok(cluster.stop());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    ASSERT_EQ(cluster.journal(2, group).stretches().size(), 1U);
    EXPECT_EQ(cluster.deliveries(2, group), cluster.deliveries(0, group));
  }
}

TEST_P(StuckCallback, ItsMemberSendsOn) {
  TestCluster cluster({.fabric = GetParam(), .groups = {small_group()}});
  Gate gate;
  cluster.life(2).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  ASSERT_TRUE(cluster.group(0).send("first", kPatience));
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  ASSERT_TRUE(cluster.group(2).send("second", kPatience));
  ASSERT_TRUE(until([&] { return cluster.deliveries(1).size() == 2; }));
  EXPECT_EQ(cluster.deliveries(1).back(), "1 2 second");
  EXPECT_TRUE(cluster.deliveries(2).empty());
  gate.open();
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(2), cluster.deliveries(1));
}

TEST_P(StuckCallback, ItsMemberLearnsOfAFailure) {
  TestCluster cluster({.fabric = GetParam(), .groups = {small_group()}});
  Gate gate;
  cluster.life(2).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  ASSERT_TRUE(cluster.group(0).send("first", kPatience));
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  cluster.kill(0);
  cluster.kill(1);
  ASSERT_TRUE(until([&] { return cluster.node(2).failure().has_value(); }));
  EXPECT_NE(cluster.node(2).failure()->message.find("lost the majority"), std::string::npos);
  gate.open();
  EXPECT_FALSE(cluster.node(2).stop(kPatience));
}

constexpr std::string_view kFailed =
    ": it says that it has failed, so it admits nobody; stop it and start it again. Its error: "
    "lost the majority of view";

// It cannot close its connections yet, so it still listens: to one that calls it, and, of a lower
// place in the list, to one that it calls.
TEST_P(StuckCallback, ItsMemberTellsAllThatComeThatItHasFailed) {
  for (const std::size_t stuck : {0, 2}) {
    TestCluster cluster({.fabric = GetParam(), .groups = {small_group()}});
    Gate gate;
    cluster.life(stuck).in_delivery = [&] { gate.pass(); };
    cluster.start();
    gate.shut();
    ASSERT_TRUE(cluster.group(1).send("first", kPatience));
    ASSERT_TRUE(until([&] { return gate.reached(); }));
    cluster.kill(1);
    cluster.kill(2 - stuck);
    ASSERT_TRUE(until([&] { return cluster.node(stuck).failure().has_value(); }));
    std::array<std::atomic<bool>, 3> told{};
    std::vector<std::jthread> starts;
    for (const std::size_t comer : {std::size_t{1}, 2 - stuck}) {
      cluster.renew(comer, [&](std::size_t member, NodeOptions& node) {
        node.log = [&its = told[member]](LogLevel, std::string_view text) {
          its = its || text.contains(kFailed);
        };
      });
      starts.emplace_back([&cluster, comer] { cluster.start({comer}); });
    }
    EXPECT_TRUE(until([&] { return told[1] && told[2 - stuck]; })) << told[1] << told[2 - stuck];
    gate.open();
    EXPECT_FALSE(cluster.node(stuck).stop(kPatience));
    cluster.renew(stuck);
    cluster.start({stuck});
  }
}

// The group's own thread is stuck, and the loop's is not.
TEST_P(StuckCallback, OnAThreadOfItsOwnRemovesNobodyEither) {
  TestCluster cluster({.fabric = GetParam(),
                       .groups = {small_group(Level::atomic, DeliveryThread::own)},
                       .suspect_after = kSuspectAfter});
  Gate gate;
  cluster.life(2).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  ASSERT_TRUE(long_after(std::chrono::steady_clock::now()));
  gate.open();
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  expect_one_view(cluster);
}

}  // namespace
}  // namespace tutti
