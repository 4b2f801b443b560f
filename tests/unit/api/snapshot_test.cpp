/// \file snapshot_test.cpp
/// Groups that are logged and have a state: snapshots let their logs go, and whoever comes again
/// has the same state as all others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "snapshot_nodes.hpp"

namespace tutti {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LoggedStates : public ::testing::TestWithParam<DeliveryThread> {
 protected:
  SnapshotNodes nodes_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(On, LoggedStates,
                         ::testing::Values(DeliveryThread::predicate, DeliveryThread::own),
                         [](const auto& thread) {
                           return thread.param == DeliveryThread::own ? "OwnThread" : "Predicate";
                         });

TEST_P(LoggedStates, LetSegmentsGoAndATotalRestartHasTheSameState) {
  expect_ok(nodes_.start({0, 1, 2}));
  nodes_.send_until_released(0, {0, 1, 2});
  nodes_.send_until_released(1, {0, 1, 2}, 300);
  nodes_.expect_equal({0, 1, 2});
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE(round);
    for (const std::size_t member : {0U, 1U, 2U}) {
      const GroupStatistics now = nodes_.statistics(member);
      EXPECT_GT(now.snapshot_before, now.log_from);
      EXPECT_EQ(nodes_.snapshots(member).size(), log::Snapshots::kKept);
    }
    nodes_.kill({0, 1, 2});
    std::vector<std::uint64_t> newest;
    for (const std::size_t member : {0U, 1U, 2U}) newest.push_back(nodes_.snapshots(member).back());
    expect_ok(nodes_.start({0, 1, 2}));
    nodes_.expect_equal({0, 1, 2});
    for (const std::size_t member : {0U, 1U, 2U}) {
      // One that was killed before the others joins them, and gets the state from them.
      EXPECT_THAT(nodes_.statistics(member).replayed, AnyOf(0U, nodes_.sent() - newest[member]));
    }
    nodes_.send_until_released(2, {0, 1, 2}, nodes_.statistics(0).log_from + 100);
    nodes_.expect_equal({0, 1, 2});
  }
  EXPECT_THAT(nodes_.said(), Not(HasSubstr("snapshot")));
}

TEST_P(LoggedStates, BringAJoinerBelowTheReleaseBack) {
  expect_ok(nodes_.start({0, 1, 2}));
  nodes_.send(0, 20);
  nodes_.expect_equal({0, 1, 2});
  nodes_.kill({2});
  nodes_.send_until_released(0, {0, 1}, 100);
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    if (lost) {
      nodes_.kill({2});
      std::filesystem::remove_all(nodes_.folder(2));
      nodes_.send(1, 10);
    }
    expect_ok(nodes_.start({2}));
    nodes_.send(2, 1);
    nodes_.expect_equal({0, 1, 2});
    ASSERT_TRUE(until([&] { return nodes_.statistics(2).persisted >= nodes_.sent(); }));
    EXPECT_GE(nodes_.statistics(2).log_from, 100U);
    nodes_.kill({0, 1, 2});
    expect_ok(nodes_.start({0, 1, 2}));
    nodes_.expect_equal({0, 1, 2});
  }
  nodes_.send_until_released(2, {0, 1, 2}, nodes_.statistics(2).log_from + 100);
  nodes_.expect_equal({0, 1, 2});
}

TEST_P(LoggedStates, OfOthersAreNotFetchedByANodeThatWasAwayForAShortWhile) {
  nodes_.options.keep_log_bytes = 8 * SnapshotNodes::kSegment;
  expect_ok(nodes_.start({0, 1, 2}));
  nodes_.send_until_released(0, {0, 1, 2});
  nodes_.kill({2});
  const std::vector<std::uint64_t> before = nodes_.snapshots(2);
  nodes_.options.snapshot_every_bytes = 1ULL << 30;  // of node 2: it takes none itself
  nodes_.send(0, 200);
  expect_ok(nodes_.start({2}));
  nodes_.send(2, 1);
  nodes_.expect_equal({0, 1, 2});
  ASSERT_TRUE(until([&] { return nodes_.statistics(2).persisted >= nodes_.sent(); }));
  EXPECT_EQ(nodes_.snapshots(2), before);
}

TEST_P(LoggedStates, ThatAreDamagedGiveWayToTheOnesBefore) {
  expect_ok(nodes_.start({0, 1, 2}));
  nodes_.send_until_released(0, {0, 1, 2});
  nodes_.kill({0, 1, 2});
  const std::vector<std::uint64_t> one = nodes_.snapshots(0);
  nodes_.damage(0, one.back());
  expect_ok(nodes_.start({0, 1, 2}));
  nodes_.expect_equal({0, 1, 2});
  EXPECT_THAT(nodes_.said(), HasSubstr(log::snapshot_name(one.back())));
  nodes_.kill({0, 1, 2});
  for (const std::uint64_t snapshot : nodes_.snapshots(0)) nodes_.damage(0, snapshot);
  const std::vector<Result<void>> started = nodes_.start({0});
  ASSERT_FALSE(started.front());
  EXPECT_THAT(started.front().error().message,
              HasSubstr("there is no snapshot of what comes before"));
  EXPECT_THAT(started.front().error().message, HasSubstr("move the state directory"));
  nodes_.kill({0});
  std::filesystem::remove_all(nodes_.folder(0));
  expect_ok(nodes_.start({0, 1, 2}));  // the others have gone on without it
  nodes_.expect_equal({0, 1, 2});
}

TEST(SnapshotOptions, AnAgeIsEnough) {
  SnapshotNodes nodes(DeliveryThread::predicate, Level::atomic);
  nodes.options.snapshot_every_bytes = 0;
  nodes.options.snapshot_every = 10ms;
  nodes.options.keep_log_bytes = 0;
  expect_ok(nodes.start({0, 1, 2}));
  nodes.send_until_released(0, {0, 1, 2});
  const std::uint64_t last = nodes.sent();
  ASSERT_TRUE(until([&] { return nodes.statistics(1).snapshot_before >= last; }));
  const std::uint64_t taken = nodes.statistics(1).snapshots;
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(nodes.statistics(1).snapshots, taken) << "nothing is new";
  nodes.kill({0, 1, 2});
  expect_ok(nodes.start({0, 1, 2}));
  nodes.expect_equal({0, 1, 2});
  EXPECT_EQ(nodes.statistics(1).replayed, 0U);
}

}  // namespace
}  // namespace tutti
