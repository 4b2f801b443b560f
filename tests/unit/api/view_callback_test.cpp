/// \file view_callback_test.cpp
/// What a node says of its views, when it says it, and nodes that the application drives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ViewCallbacks : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(On, ViewCallbacks, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(ViewCallbacks, TellWhoIsThereWhoCameAndWhoLeft) {
  TestCluster cluster({.members = 4, .fabric = GetParam(), .groups = {small_group()}});
  EXPECT_EQ(cluster.node(0).view().view, 0) << "none yet";
  EXPECT_THAT(cluster.node(0).view().members, IsEmpty());
  cluster.start();
  const std::vector<std::uint64_t> incarnations = cluster.node(0).view().incarnations.all();
  cluster.kill(0);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2, 3}); }));
  EXPECT_TRUE(cluster.leave(2));
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 3}); }));
  cluster.renew(0);
  cluster.start({0});
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 3}); }));
  expect_ok(cluster.stop());
  cluster.expect_one_story();

  const std::vector<Stretch> views = cluster.journal(3).stretches();
  ASSERT_EQ(views.size(), 4);
  EXPECT_THAT(views[0].view.members, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(views[0].view.joined, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(views[0].view.left, IsEmpty());
  EXPECT_EQ(views[0].view.rank.value, 3);
  EXPECT_THAT(views[1].view.members, ElementsAre("b", "c", "d"));
  EXPECT_THAT(views[1].view.joined, IsEmpty());
  ASSERT_EQ(views[1].view.left.size(), 1);
  EXPECT_EQ(views[1].view.left[0].member, "a");
  EXPECT_EQ(views[1].view.left[0].incarnation, incarnations[0]);
  EXPECT_EQ(views[1].view.left[0].reason, LeftReason::suspected);
  EXPECT_EQ(views[1].view.rank.value, 2);
  EXPECT_THAT(views[2].view.members, ElementsAre("b", "d"));
  ASSERT_EQ(views[2].view.left.size(), 1);
  EXPECT_EQ(views[2].view.left[0].member, "c");
  EXPECT_EQ(views[2].view.left[0].reason, LeftReason::left);
  EXPECT_THAT(views[3].view.members, ElementsAre("b", "d", "a")) << "survivors first";
  EXPECT_THAT(views[3].view.joined, ElementsAre("a"));
  EXPECT_THAT(views[3].view.left, IsEmpty());
  EXPECT_NE(views[3].view.incarnations[Rank{2}], incarnations[0]) << "another start";
  EXPECT_EQ(views[3].view.incarnations[Rank{0}], incarnations[1]);

  const std::vector<Stretch> again = cluster.journal(0).stretches();
  ASSERT_EQ(again.size(), 1);
  EXPECT_EQ(again[0].view.view, 4);
  EXPECT_EQ(again[0].view.rank.value, 2);
  EXPECT_THAT(again[0].view.joined, ElementsAre("a"));
}

// Several groups, on both kinds of threads: each is told of the view at the same place.
TEST_P(ViewCallbacks, ComeBetweenTheMessagesOfTwoViewsInEveryGroup) {
  GroupOptions own = small_group(Level::atomic, DeliveryThread::own);
  own.name = "own";
  GroupOptions unordered = small_group(Level::unordered);
  unordered.name = "unordered";
  TestCluster cluster({.fabric = GetParam(), .groups = {small_group(), own, unordered}});
  cluster.start();
  std::atomic<bool> done{false};
  std::vector<std::jthread> senders;
  for (const std::size_t member : {0U, 1U}) {
    for (const std::size_t group : {1U, 2U}) {
      senders.emplace_back([&, member, group] {
        for (int i = 0; !done.load(); ++i) {
          const auto sent = cluster.group(member, group).send(std::to_string(i), kPatience);
          ASSERT_TRUE(sent) << sent.error().message;
        }
      });
    }
  }
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1}));
  done = true;
  senders.clear();
  expect_ok(cluster.stop());
  cluster.expect_one_story();
  for (const std::size_t group : {0U, 1U, 2U}) {
    const std::vector<Stretch> a = cluster.journal(0, group).stretches();
    const std::vector<Stretch> b = cluster.journal(1, group).stretches();
    ASSERT_EQ(a.size(), 2);
    ASSERT_EQ(b.size(), 2);
    for (const std::size_t view : {0U, 1U}) {
      EXPECT_EQ(a[view].messages.size(), b[view].messages.size());
      if (group != 2) {
        EXPECT_EQ(a[view].messages, b[view].messages);
      }
    }
  }
}

// One thread per node does all: it sends, polls and waits.
TEST_P(ViewCallbacks, ComeInsidePollWithDriveCaller) {
  TestCluster cluster(
      {.members = 4, .fabric = GetParam(), .drive = Drive::caller, .groups = {small_group()}});
  cluster.start();
  std::vector<std::atomic<bool>> dies(4);
  std::atomic<bool> done{false};
  std::vector<std::jthread> drivers;
  for (std::size_t member = 0; member < 4; ++member) {
    drivers.emplace_back([&, member] {
      Node& node = cluster.node(member);
      Group& group = cluster.group(member);
      std::uint64_t sent = 0;
      while (!done.load() && !dies[member].load()) {
        const std::string text = cluster.life(member).prefix + " " + std::to_string(sent);
        if (group.send(text, 1ms)) ++sent;
        if (node.poll() == 0) node.wait(1ms);
      }
      cluster.life(member).sent = sent;
      if (dies[member].load()) {
        if (member == 3) {
          cluster.life(member).ended = cluster.life(member).left =
              node.leave(kPatience).has_value();
        }
        return cluster.life(member).node.reset();
      }
      const Result<void> stopped = node.stop(kPatience);
      EXPECT_TRUE(stopped) << stopped.error().message;
      cluster.life(member).ended = stopped.has_value();
    });
  }
  ASSERT_TRUE(cluster.hear_more({0, 1, 2, 3}));
  dies[0] = true;
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2, 3}); }));
  ASSERT_TRUE(cluster.hear_more({1, 2, 3}));
  dies[3] = true;
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({1, 2}));
  done = true;
  drivers.clear();
  cluster.expect_one_story();
  EXPECT_TRUE(cluster.life(3).ended);
  EXPECT_EQ(cluster.journal(1).stretches().back().view.left[0].reason, LeftReason::left);
}

TEST(SlowViewCallback, IsNoReasonForAStartToFail) {
  std::atomic<bool> started{false};
  TestCluster cluster({.members = 2, .groups = {small_group()}},
                      [](std::size_t member, NodeOptions& node) {
                        if (member == 0) node.start_timeout = 8s;
                      });
  cluster.life(0).in_view = [&] { EXPECT_TRUE(until([&] { return started.load(); })); };
  std::thread other([&] { EXPECT_TRUE(cluster.node(1).start()); });
  const Result<void> result = cluster.node(0).start();
  started = true;
  other.join();
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(cluster.group(0).send("x", kPatience));
  EXPECT_TRUE(until([&] { return cluster.journal(0).messages() == 1; }));
  expect_ok(cluster.stop());
}

TEST(SlowViewCallback, HidesNoLossOfTheOthers) {
  LogBook log;
  TestCluster cluster({.members = 3, .groups = {small_group()}},
                      [&](std::size_t member, NodeOptions& node) {
                        if (member != 0) return;
                        node.log = log.callback();
                      });
  Gate gate;
  gate.shut();
  cluster.life(0).in_view = [&] { gate.pass(); };
  Result<void> started;
  std::thread starter([&] { started = cluster.node(0).start(); });
  cluster.start({1, 2});
  EXPECT_TRUE(until([&] { return gate.reached(); }));
  cluster.kill(1);
  cluster.kill(2);
  // Node 0 may hear from c that b is gone before it has looked itself: then it says "removed".
  const auto is_told = [&](const std::string& name) {
    return log.with(name + " was lost: ") + log.with(name + " was removed by view") != 0;
  };
  EXPECT_TRUE(until([&] { return is_told("'b'") && is_told("'c'"); }));
  gate.open();
  starter.join();
  EXPECT_TRUE(!started || until([&] { return cluster.node(0).failure().has_value(); }));
  EXPECT_THAT(cluster.node(0).failure().value_or(Error{}).message, HasSubstr("lost the majority"));
}

}  // namespace
}  // namespace tutti
