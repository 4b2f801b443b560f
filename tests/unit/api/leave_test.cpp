/// \file leave_test.cpp
/// Members that leave in order, and how groups end after members were lost, left or joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

class Leaving : public ::testing::TestWithParam<FabricChoice> {
 protected:
  static ClusterOptions options(std::size_t members) {
    return {.members = members, .fabric = GetParam(), .groups = {small_group()}};
  }

  static void expect_left(Journal& journal, const std::string& who) {
    bool found = false;
    for (const Stretch& stretch : journal.stretches()) {
      for (const Departure& gone : stretch.view.left) {
        if (gone.member != who) continue;
        EXPECT_EQ(gone.reason, LeftReason::left);
        found = true;
      }
    }
    EXPECT_TRUE(found) << who;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, Leaving,
                         ::testing::Values(FabricChoice::shm, FabricChoice::tcp, FabricChoice::ofi),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(Leaving, InOrderLosesNothingAndIsNoLoss) {
  for (std::size_t leaver = 0; leaver < 3; ++leaver) {
    SCOPED_TRACE(leaver);
    TestCluster cluster(options(3));
    cluster.start();
    cluster.talk({0, 1, 2});
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
    const Result<void> left = cluster.leave(leaver);
    EXPECT_TRUE(left) << left.error().message;
    EXPECT_FALSE(cluster.node(leaver).failure());
    EXPECT_EQ(cluster.group(leaver).try_claim(1).outcome(), ClaimOutcome::stopped);
    const std::vector<std::size_t> others{(leaver + 1) % 3, (leaver + 2) % 3};
    ASSERT_TRUE(until([&] { return cluster.are_in_view_of(others); }));
    ASSERT_TRUE(cluster.hear_more(others));
    expect_ok(cluster.stop());
    cluster.expect_one_story();
    for (const std::size_t other : others) {
      expect_left(cluster.journal(other), cluster.life(leaver).name);
    }
  }
}

TEST_P(Leaving, OneAfterTheOtherWorksDownToTheLast) {
  TestCluster cluster(options(4));
  cluster.start();
  cluster.talk({0, 1, 2, 3});
  for (const std::size_t leaver : {1U, 0U, 3U}) {
    ASSERT_TRUE(cluster.hear_more({2, leaver}));
    const Result<void> left = cluster.leave(leaver);
    EXPECT_TRUE(left) << left.error().message;
  }
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({2}); }));
  ASSERT_TRUE(cluster.hear_more({2}));
  const Result<void> last = cluster.leave(2);
  EXPECT_TRUE(last) << last.error().message;
  cluster.expect_one_story();
}

TEST_P(Leaving, AllAtOnceWorks) {
  for (int i = 0; i < 5; ++i) {
    TestCluster cluster(options(3));
    cluster.start();
    cluster.talk({0, 1, 2});
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}, 20));
    std::vector<std::jthread> threads;
    for (std::size_t member = 0; member < 3; ++member) {
      threads.emplace_back([&cluster, member] {
        const Result<void> left = cluster.leave(member);
        EXPECT_TRUE(left) << left.error().message;
      });
    }
    threads.clear();
    cluster.expect_one_story();
  }
}

TEST_P(Leaving, WhileTheOthersStopEndsAllWell) {
  TestCluster cluster(options(3));
  cluster.start();
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  std::vector<std::jthread> threads;
  for (std::size_t member = 0; member < 3; ++member) {
    threads.emplace_back([&cluster, member] {
      cluster.hush(member);
      Node& node = cluster.node(member);
      const Result<void> ended = member == 1 ? node.leave(kPatience) : node.stop(kPatience);
      EXPECT_TRUE(ended) << member << ": " << ended.error().message;
      cluster.life(member).ended = ended.has_value();
      cluster.life(member).left = member == 1;
    });
  }
  threads.clear();
  cluster.expect_one_story();
}

TEST_P(Leaving, WhoLeftMayComeAgain) {
  TestCluster cluster(options(3));
  cluster.start();
  for (int i = 0; i < 3; ++i) {
    cluster.talk({0, 1, 2});
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
    cluster.hush();
    const Result<void> left = cluster.leave(0);
    ASSERT_TRUE(left) << left.error().message;
    cluster.renew(0, [](std::size_t, NodeOptions& node) { node.join_only = true; });
    cluster.start({0});
    ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
    for (const std::size_t member : {1U, 2U}) cluster.life(member).sent.reset();
  }
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.node(1).view().view, 7);
}

TEST_P(Leaving, AloneWorks) {
  TestCluster cluster(options(1));
  cluster.start();
  cluster.talk(0);
  ASSERT_TRUE(cluster.hear_more({0}));
  const Result<void> left = cluster.leave(0);
  EXPECT_TRUE(left) << left.error().message;
  cluster.expect_one_story();
}

TEST_P(Leaving, WithoutAnAnswerEndsAtItsDeadline) {
  ClusterOptions how = options(2);
  TestCluster cluster(how, [](std::size_t member, NodeOptions& node) {
    if (member == 1) node.drive = Drive::caller;
  });
  std::jthread other([&] { EXPECT_TRUE(cluster.node(1).start()); });
  EXPECT_TRUE(cluster.node(0).start());
  other.join();
  const Result<void> left = cluster.node(0).leave(20ms);  // the other is not polled
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, ErrorCode::timed_out);
  EXPECT_THAT(left.error().message, HasSubstr("left at once"));
}

// Of three that all finished, a lost one is not waited for.
TEST_P(Leaving, StopEndsAllWellAfterALoss) {
  TestCluster cluster(options(4));
  cluster.start();
  cluster.talk({0, 1, 2, 3});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 3}));
  cluster.kill(2);
  expect_ok(cluster.stop());  // the loss may be found before, meanwhile or after
  cluster.expect_one_story();
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(1));
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(3));
}

TEST_P(Leaving, AGroupIsCompleteWithoutWhoIsLost) {
  TestCluster cluster(options(3));
  cluster.start();
  ASSERT_TRUE(cluster.group(2).send("last words", kPatience));
  ASSERT_TRUE(until([&] {  // not hear_more(): one of them may have heard it by now
    return cluster.journal(0).messages() == 1 && cluster.journal(1).messages() == 1;
  }));
  cluster.group(0).finish();
  cluster.group(1).finish();
  EXPECT_FALSE(cluster.group(0).complete());
  const Result<void> waited = cluster.group(0).wait_complete(1ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::timed_out);
  cluster.kill(2);
  EXPECT_TRUE(cluster.group(0).wait_complete(kPatience));
  EXPECT_TRUE(cluster.group(1).wait_complete(kPatience));
  expect_ok(cluster.stop());
}

// Who has finished stays so in the next views, and is delivered what the others send there.
TEST_P(Leaving, WhoFinishedStaysFinishedInTheNextView) {
  TestCluster cluster(options(4));
  cluster.start();
  cluster.group(0).finish();
  cluster.kill(3);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  EXPECT_EQ(cluster.group(0).try_claim(1).outcome(), ClaimOutcome::stopped);
  cluster.talk({1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

// All there were had finished; then one more comes, and is not left alone with what it sends.
TEST_P(Leaving, AGroupIsNotCompleteWithAMemberThatComesLater) {
  ClusterOptions how = options(3);
  how.founders = 2;
  TestCluster cluster(how);
  cluster.start({0, 1});
  cluster.group(0).finish();
  cluster.group(1).finish();
  EXPECT_TRUE(cluster.group(0).wait_complete(kPatience));
  EXPECT_TRUE(cluster.group(1).wait_complete(kPatience));
  cluster.start({2});
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  EXPECT_FALSE(cluster.group(0).complete());
  EXPECT_FALSE(cluster.group(1).complete());
  cluster.talk(2);
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

}  // namespace
}  // namespace tutti
