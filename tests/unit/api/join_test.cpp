/// \file join_test.cpp
/// How groups are founded and joined: by some of the members, in any order, by those that come
/// later; and who is put out of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class Joining : public ::testing::TestWithParam<FabricChoice> {
 protected:
  static ClusterOptions options(std::size_t members, std::uint32_t founders = 0) {
    return {
        .members = members, .fabric = GetParam(), .groups = {small_group()}, .founders = founders};
  }
};

INSTANTIATE_TEST_SUITE_P(On, Joining,
                         ::testing::Values(FabricChoice::shm, FabricChoice::tcp, FabricChoice::ofi),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(Joining, ThreeOfFiveFoundTheGroupAndTheOthersComeLater) {
  TestCluster cluster(options(5, 3));
  cluster.start({4, 1, 2});
  const ViewChange first = cluster.node(1).view();
  EXPECT_EQ(first.view, 1);
  EXPECT_THAT(first.members, UnorderedElementsAre("b", "c", "e"));
  EXPECT_EQ(first.joined, first.members);
  EXPECT_TRUE(first.left.empty());
  cluster.talk({1, 2, 4});
  ASSERT_TRUE(cluster.hear_more({1, 2, 4}));
  cluster.start({0, 3});
  cluster.talk({0, 3});
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2, 3, 4}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 3, 4}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

TEST_P(Joining, PathsAreTriedBeforeTheyAreUsed) {
  TestCluster cluster(options(4, 3),
                      [](std::size_t, NodeOptions& node) { node.litmus_rounds = 30; });
  cluster.start({0, 1, 2});
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  cluster.start({3});
  cluster.talk(3);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2, 3}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 3}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

TEST_P(Joining, AllStartInAnyOrder) {
  std::vector<std::size_t> order{0, 1, 2};
  do {
    TestCluster cluster(options(3));
    std::vector<std::jthread> threads;
    for (const std::size_t member : order) {
      threads.emplace_back([&cluster, member] { cluster.start({member}); });
      std::this_thread::yield();
    }
    threads.clear();
    EXPECT_EQ(cluster.node(0).view().members, (std::vector<std::string>{"a", "b", "c"}));
    expect_ok(cluster.stop());
    cluster.expect_one_story();
  } while (std::ranges::next_permutation(order).found);
}

TEST_P(Joining, WithoutAGroupEndsAtTheStartTimeout) {
  const auto hasty = [](std::size_t, NodeOptions& node) {
    node.join_only = true;
    node.start_timeout = 300ms;
  };
  TestCluster cluster(options(3), hasty);
  const Result<void> alone = cluster.node(0).start();
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, ErrorCode::unreachable);
  EXPECT_THAT(alone.error().message, HasSubstr("start_timeout of 0.300 s is over"));
  EXPECT_THAT(alone.error().message, HasSubstr("there is no group to join"));
  EXPECT_THAT(alone.error().message, HasSubstr("b (127."));
}

TEST_P(Joining, OnlyMakesNoGroupEvenIfAllAreThere) {
  const auto hasty = [](std::size_t, NodeOptions& node) {
    node.join_only = true;
    node.start_timeout = 500ms;
  };
  TestCluster cluster(options(3), hasty);
  std::vector<std::jthread> threads;
  for (std::size_t member = 0; member < 3; ++member) {
    threads.emplace_back([&cluster, member] {
      const Result<void> started = cluster.node(member).start();
      ASSERT_FALSE(started);
      EXPECT_THAT(started.error().message, HasSubstr("no member that answers is in one"));
    });
  }
}

// It gives up at some point of its start, another one each time.
TEST_P(Joining, ThatIsGivenUpHalfWayDisturbsNobody) {
  TestCluster cluster(options(4, 3));
  cluster.start({0, 1, 2});
  cluster.talk({0, 1, 2});
  for (int i = 0; i < 20; ++i) {
    cluster.renew(3, [i](std::size_t, NodeOptions& node) {
      node.join_only = true;
      node.start_timeout = 1ms + i * 2ms;
    });
    // It may have come in all the same, or have been taken for started and be gone already.
    static_cast<void>(cluster.node(3).start());
    cluster.kill(3);
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}, 20));
  }
  cluster.renew(3);
  cluster.start({3});
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2, 3}); }));
  cluster.talk(3);
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 3}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

// It is not polled, as if its process were stopped; then it is.
TEST_P(Joining, AgainFollowsForWhoWasSilentForTooLong) {
  TestCluster cluster(options(3), [](std::size_t member, NodeOptions& node) {
    if (member == 1) node.drive = Drive::caller;
    if (member == 0) node.suspect_after = 5s;  // one is enough, and c is not to suspect a falsely
  });
  cluster.start();
  cluster.talk({0, 2});
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 2}));
  const std::size_t before = cluster.journal(1).messages();
  Node& silent = cluster.node(1);
  ASSERT_TRUE(until([&] {
    silent.poll();
    return silent.failure().has_value();
  }));
  const Error why = *silent.failure();
  EXPECT_EQ(why.code, ErrorCode::stopped);
  EXPECT_THAT(why.message, HasSubstr("removed"));
  EXPECT_THAT(why.message, HasSubstr("tart"));
  const std::size_t then = cluster.journal(1).messages();
  EXPECT_LE(then - before, 2 * 64U) << "of its view, perhaps; but no more";
  silent.poll();
  EXPECT_EQ(cluster.journal(1).messages(), then);
  EXPECT_EQ(cluster.journal(1).stretches().size(), 1);
  EXPECT_EQ(cluster.group(1).try_claim(1).outcome(), ClaimOutcome::stopped);
  const Result<void> stopped = silent.stop(kPatience);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, why.message);

  cluster.renew(1, [](std::size_t, NodeOptions& node) { node.join_only = true; });
  cluster.start({1});
  cluster.talk(1);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

}  // namespace
}  // namespace tutti
