/// \file ended_test.cpp
/// All other members of a node are lost after its groups were complete, so it has lost no message:
/// it reports no failure and runs on, in no group any more. Those that come to it wait no longer
/// than they said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
                       .suspect_after = 1s});
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

}  // namespace
}  // namespace tutti
