/// \file snapshot_test.cpp
/// Groups that are logged and have a state: snapshots let their logs go, and whoever comes again
/// has the same state as all others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

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
    nodes_.kill({0, 1, 2});
    std::vector<std::uint64_t> newest;
    for (const std::size_t member : {0U, 1U, 2U}) {
      newest.push_back(nodes_.snapshots(member).back());
      EXPECT_GE(nodes_.snapshots(member).size(), log::Snapshots::kKept);
    }
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
  nodes.kill({0, 1, 2});
  expect_ok(nodes.start({0, 1, 2}));
  nodes.expect_equal({0, 1, 2});
  EXPECT_EQ(nodes.statistics(1).replayed, 0U);
}

// Whose state is what it has taken, and released.
TEST(SnapshotOptions, AnApplicationThatTakesHasThemBetweenTwoBatches) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tutti-taken-XXXXXX").string();
  const std::string root = ::mkdtemp(pattern.data());
  const std::vector<MemberAddress> alone = loopback_members(1);
  std::uint64_t sent = 0;
  for (int run = 0; run < 3; ++run) {
    SCOPED_TRACE(run);
    // Of the messages that were released, or a state stands for.
    std::atomic<std::uint64_t> count = 0;
    std::atomic<bool> holds = false;
    GroupOptions options{.name = "taken",
                         .level = Level::durable,
                         .message_max_bytes = 4096,
                         .logged = true,
                         .snapshot_every_bytes = 16U << 10,
                         .keep_log_bytes = 0,
                         .log_segment_bytes = 64U << 10,
                         .delivery = DeliveryThread::application,
                         .stateful = true};
    options.save_state = [&](const StateSink& write) -> Result<void> {
      EXPECT_FALSE(holds) << "a batch is not part of the state before it is released";
      const std::uint64_t state = count;
      write(std::as_bytes(std::span(&state, 1)));
      return {};
    };
    options.load_state = [&](const StatePiece& piece) -> Result<void> {
      std::uint64_t state = 0;
      EXPECT_EQ(piece.bytes.size(), sizeof state);
      std::memcpy(&state, piece.bytes.data(), sizeof state);
      count = state;
      return {};
    };
    auto node = Node::create(
        {.name = "a", .members = alone, .state_dir = root + "/a", .bootstrap = run == 0});
    ASSERT_TRUE(node);
    auto group = node->join(options);
    ASSERT_TRUE(group) << group.error().message;
    const Result<void> started = node->start();
    ASSERT_TRUE(started) << started.error().message;
    const auto take_all = [&] {
      while (count < sent) {
        Result<Batch> batch = group->take(7, kPatience);
        ASSERT_TRUE(batch) << batch.error().message << ": " << count << " of " << sent;
        holds = true;
        for (const Message& message : batch->messages()) ASSERT_EQ(message.seq.value, count++);
        holds = false;
        batch->release();
      }
    };
    take_all();
    const auto is_released = [&] {
      for (int i = 0; i < 20; ++i, ++sent) {
        EXPECT_TRUE(group->send(std::string(2000, 'x'), kPatience));
      }
      take_all();
      const GroupStatistics now = group->statistics();
      return now.snapshots >= 2 && now.log_from > sent / 2;
    };
    ASSERT_TRUE(until(is_released));
    EXPECT_TRUE(run == 0 || group->statistics().replayed < sent);
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tutti
