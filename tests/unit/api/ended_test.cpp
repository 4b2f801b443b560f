/// \file ended_test.cpp
/// All other members of a node are lost after its groups were complete, so it has lost no message:
/// it reports no failure and runs on, in no group any more. Those that come to it wait no longer
/// than they said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

class Ended : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(On, Ended, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(Ended, AllThatComeAreToldInTheirTimeAndMayFoundAnotherGroup) {
  TestCluster cluster({.members = 3,
                       .fabric = GetParam(),
                       .groups = {small_group()},
                       .founders = 2,
                       .suspect_after = 5s});
  cluster.start({0, 1});
  for (const std::size_t member : {0, 1}) cluster.group(member).finish();
  for (const std::size_t member : {0, 1}) {
    EXPECT_TRUE(cluster.group(member).wait_complete(kPatience));
  }
  cluster.kill(1);
  const auto briefly = [](std::size_t, NodeOptions& node) { node.start_timeout = 300ms; };
  // One after the other, in places that a knows and in those that it does not.
  for (const std::size_t joiner : {2, 1, 2, 1}) {
    if (joiner == 2 && cluster.life(2).node) cluster.kill(2);
    cluster.renew(joiner, briefly);
    const Result<void> started = cluster.node(joiner).start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("still waiting for "));
    cluster.kill(joiner);
  }
  cluster.renew(1);
  cluster.renew(2);
  cluster.start({1, 2});
  EXPECT_TRUE(cluster.are_in_view_of({1, 2}));
  EXPECT_FALSE(cluster.node(0).failure());
  const std::vector<Result<void>> stopped = cluster.stop();
  expect_ok(stopped);
}

TEST_P(Ended, AMemberMayFinishBeforeItStarts) {
  TestCluster cluster({.members = 2, .fabric = GetParam(), .groups = {small_group()}});
  cluster.group(0).finish();
  cluster.start();
  EXPECT_FALSE(cluster.group(0).send("x", kPatience));
  ASSERT_TRUE(cluster.group(1).send("x", kPatience));
  cluster.group(1).finish();
  for (const std::size_t member : {0, 1}) {
    EXPECT_TRUE(cluster.group(member).wait_complete(kPatience));
  }
  const std::vector<Result<void>> stopped = cluster.stop();
  expect_ok(stopped);
}

// Both wait for the same; whichever closes first has done the other's work as well.
TEST_P(Ended, TwoThreadsThatStopANodeAreBothToldThatItStopped) {
  for (int times = 0; times < 5; ++times) {
    TestCluster cluster({.members = 2, .fabric = GetParam(), .groups = {small_group()}});
    cluster.start();
    ASSERT_TRUE(cluster.group(0).send("x", kPatience));
    std::vector<Result<void>> stopped(3);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < stopped.size(); ++i) {
      threads.emplace_back([&, i] { stopped[i] = cluster.node(i == 0 ? 1 : 0).stop(kPatience); });
    }
    for (std::thread& thread : threads) thread.join();
    expect_ok(stopped);
  }
}

struct Comer {
  std::size_t ended = 0;
  std::size_t lost = 0;
  std::size_t comes = 0;
};

// In a place of its last view, and in one that it never met: in each, one node that calls it and
// one that it calls.
TEST(EndedMember, TellsAllThatComeWhyItAdmitsNobodyAndWhatToDo) {
  constexpr std::array kComers{Comer{0, 1, 1}, Comer{0, 1, 2}, Comer{2, 1, 0}, Comer{2, 1, 1}};
  for (const auto& [ended, lost, comes] : kComers) {
    SCOPED_TRACE(std::to_string(ended) + " " + std::to_string(comes));
    std::atomic<bool> told{false};
    TestCluster cluster(
        {.members = 3, .groups = {small_group()}, .founders = 2, .suspect_after = 5s});
    cluster.start({ended, lost});
    for (const std::size_t member : {ended, lost}) cluster.group(member).finish();
    for (const std::size_t member : {ended, lost}) {
      EXPECT_TRUE(cluster.group(member).wait_complete(kPatience));
    }
    cluster.kill(lost);
    cluster.renew(comes, [&](std::size_t, NodeOptions& node) {
      node.log = [&](LogLevel, std::string_view text) {
        if (!text.starts_with("waiting for ")) return;
        if (text.contains(": it says that its groups are complete and it has lost the others, so "
                          "it admits nobody; stop it and start it again)")) {
          told = true;
        }
      };
    });
    std::jthread starts([&] { cluster.start({comes}); });
    EXPECT_TRUE(until([&] { return told.load(); }));
    expect_ok({cluster.node(ended).stop(kPatience)});
    cluster.renew(ended);
    cluster.start({ended});
  }
}

}  // namespace
}  // namespace tutti
