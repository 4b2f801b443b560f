/// \file node_test.cpp
/// Node and Group as an application uses them, on shared memory and TCP.
#include "tutti/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cluster.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OnFabric : public ::testing::TestWithParam<FabricChoice> {};

INSTANTIATE_TEST_SUITE_P(Node, OnFabric,
                         ::testing::Values(FabricChoice::shm, FabricChoice::tcp, FabricChoice::ofi),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(OnFabric, AllMembersDeliverTheSameSequence) {
  TestCluster cluster({.fabric = GetParam()});
  cluster.start();
  std::vector<std::jthread> senders;
  senders.reserve(3);
  for (std::size_t member = 0; member < 3; ++member) {
    senders.emplace_back([&cluster, member] {
      for (int i = 0; i < 2000; ++i) {
        ASSERT_TRUE(cluster.group(member).send(std::to_string(i), kPatience));
      }
    });
  }
  senders.clear();
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(0).size(), 6000);
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(1));
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(2));
}

TEST_P(OnFabric, SeveralThreadsOfOneMemberSendWithoutLosingAnything) {
  TestCluster cluster({.members = 2, .fabric = GetParam()});
  cluster.start();
  std::vector<std::jthread> senders;
  senders.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    senders.emplace_back([&cluster, thread] {
      for (int i = 0; i < 1000; ++i) {
        const std::string text = std::to_string(thread) + ":" + std::to_string(i);
        ASSERT_TRUE(cluster.group(0).send(text, kPatience));
      }
    });
  }
  senders.clear();
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(1).size(), 4000);
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(1));
}

TEST_P(OnFabric, ATicketTellsWhenOnesOwnMessageWasDelivered) {
  TestCluster cluster({.fabric = GetParam()});
  cluster.start();
  const Result<Ticket> ticket = cluster.group(1).send("x", kPatience);
  ASSERT_TRUE(ticket);
  EXPECT_TRUE(cluster.group(1).wait(*ticket, kPatience));
  EXPECT_TRUE(cluster.group(1).delivered(*ticket));
  EXPECT_FALSE(cluster.group(1).delivered(Ticket{ticket->value + 1}));
  const Result<void> never = cluster.group(1).wait(Ticket{ticket->value + 1}, 1ms);
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, ErrorCode::timed_out);
  expect_ok(cluster.stop());
}

TEST_P(OnFabric, AMemberThatEndsAtOnceIsLostByNameAndTheOthersGoOn) {
  TestCluster cluster({.fabric = GetParam()});
  cluster.start();
  cluster.kill(1);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 2}); }));
  const ViewChange view = cluster.node(2).view();
  EXPECT_EQ(view.view, 2);
  EXPECT_THAT(view.members, ElementsAre("a", "c"));
  EXPECT_EQ(view.rank.value, 1);
  ASSERT_EQ(view.left.size(), 1);
  EXPECT_EQ(view.left[0].member, "b");
  EXPECT_EQ(view.left[0].reason, LeftReason::suspected);
  const Result<Ticket> later = cluster.group(2).send("later", kPatience);
  ASSERT_TRUE(later);
  EXPECT_TRUE(cluster.group(2).wait(*later, kPatience));
  EXPECT_FALSE(cluster.node(0).failure());
  EXPECT_FALSE(cluster.node(2).failure());
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(0), Deliveries{"0 2 later"}) << "ranks in the group stay";
  EXPECT_EQ(cluster.deliveries(2), Deliveries{"0 2 later"});
}

TEST_P(OnFabric, WhoLosesTheMajorityStopsAndSaysWhomItLost) {
  TestCluster cluster({.members = 2, .fabric = GetParam()});
  cluster.start();
  cluster.kill(1);
  ASSERT_TRUE(until([&] { return cluster.node(0).failure().has_value(); }));
  EXPECT_EQ(cluster.node(0).failure()->code, ErrorCode::peer_lost);
  EXPECT_THAT(cluster.node(0).failure()->message,
              HasSubstr("lost the majority of view 1: 'b' was lost; nothing more is delivered"));
  const Result<Ticket> refused = cluster.group(0).send("late", kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::peer_lost);
  const Result<void> stopped = cluster.node(0).stop(kPatience);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::peer_lost);
}

TEST_P(OnFabric, AGroupsOwnThreadDeliversWhileASlowCallbackFillsTheWindow) {
  std::atomic<bool> open{false};
  std::atomic<int> seen{0};
  GroupOptions group{.name = "log"};
  group.message_max_bytes = 1024;
  group.window_bytes = 4096;
  group.delivery = DeliveryThread::own;
  group.on_delivery = [&](std::span<const Message> batch) {
    while (!open.load()) std::this_thread::yield();
    seen += static_cast<int>(batch.size());
  };
  TestCluster cluster({.members = 2, .fabric = GetParam(), .groups = {group}});
  cluster.start();
  int accepted = 0;
  for (Claim claim; (claim = cluster.group(0).try_claim(1000)); ++accepted) {
    cluster.group(0).commit(std::move(claim));
  }
  EXPECT_EQ(cluster.group(0).try_claim(1000).outcome(), ClaimOutcome::full);
  const Result<Claim> waited = cluster.group(0).claim(1000, 1ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::timed_out);
  open = true;
  EXPECT_TRUE(cluster.group(0).send(std::string(1000, 'x'), kPatience));
  expect_ok(cluster.stop());
  EXPECT_EQ(seen.load(), 2 * (accepted + 1));
}

TEST_P(OnFabric, TheApplicationCanDriveTheLoopItself) {
  TestCluster cluster({.members = 2, .fabric = GetParam(), .drive = Drive::caller});
  cluster.start();
  Node& other = cluster.node(1);
  std::atomic<bool> done{false};
  std::jthread driver([&] {
    while (!done.load()) {
      if (other.poll() == 0) other.wait(1ms);
    }
  });
  for (int i = 0; i < 500; ++i) {
    const Result<Ticket> ticket = cluster.group(0).send("m", kPatience);
    ASSERT_TRUE(ticket);
    ASSERT_TRUE(cluster.group(0).wait(*ticket, kPatience));
  }
  done = true;
  driver.join();
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(0).size(), 500);
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(1));
}

// What the others wrote is not mapped any more.
TEST_P(OnFabric, AfterTheEndMessagesAreNotAskedWhetherTheyAreIntact) {
  TestCluster cluster({.members = 2, .fabric = GetParam()});
  cluster.start();
  EXPECT_TRUE(cluster.group(0).send("to both", kPatience));
  EXPECT_TRUE(cluster.group(1).send("to both", kPatience));
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(0).size(), 2);
  EXPECT_TRUE(cluster.group(0).intact());
  EXPECT_TRUE(cluster.group(1).intact());
}

TEST_P(OnFabric, OverlappingGroupsDeliverEachToItsMembersOnly) {
  const GroupOptions left{.name = "left", .members = {"a", "b"}};
  const GroupOptions right{.name = "right", .members = {"c", "b"}, .senders = {"c"}};
  TestCluster cluster({.fabric = GetParam(), .groups = {left, right}});
  cluster.start();
  EXPECT_TRUE(cluster.group(0, 0).send("from a", kPatience));
  EXPECT_TRUE(cluster.group(2, 1).send("from c", kPatience));
  EXPECT_EQ(cluster.group(1, 1).own_index().value, 1);
  EXPECT_EQ(cluster.group(1, 1).name_of(MemberIndex{0}), "c");
  EXPECT_EQ(cluster.group(1, 1).name_of(MemberIndex{2}), "") << "there is none";
  EXPECT_EQ(cluster.group(1, 1).try_claim(1).outcome(), ClaimOutcome::not_sender);
  // Who is in no group's members joins it all the same, but neither sends nor is delivered to.
  EXPECT_EQ(cluster.group(2, 0).own_index().value, 2) << "their number: it is none of them";
  EXPECT_EQ(cluster.group(2, 0).try_claim(1).outcome(), ClaimOutcome::not_sender);
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(0, 0), Deliveries{"0 0 from a"});
  EXPECT_EQ(cluster.deliveries(1, 0), Deliveries{"0 0 from a"});
  EXPECT_EQ(cluster.deliveries(2, 0), Deliveries{});
  EXPECT_EQ(cluster.deliveries(0, 1), Deliveries{});
  EXPECT_EQ(cluster.deliveries(1, 1), Deliveries{"0 0 from c"});
  EXPECT_EQ(cluster.deliveries(2, 1), Deliveries{"0 0 from c"});
}

TEST(Node, AbandonedClaimsAreDeliveredNowhere) {
  TestCluster cluster({.members = 2});
  cluster.start();
  for (int i = 0; i < 10; ++i) {
    Result<Claim> kept = cluster.group(0).claim(1, kPatience);
    ASSERT_TRUE(kept);
    *kept->data() = std::byte{'k'};
    {
      const Claim dropped = cluster.group(0).try_claim(7);
    }
    cluster.group(0).commit(std::move(*kept));
  }
  expect_ok(cluster.stop());
  ASSERT_EQ(cluster.deliveries(1).size(), 10);
  EXPECT_EQ(cluster.deliveries(1).back(), "9 0 k");
}

TEST(Node, RefusesWhatIsOutOfPlaceAndSaysWhatToDo) {
  TestCluster cluster({.members = 1});
  EXPECT_EQ(cluster.group(0).try_claim(1).outcome(), ClaimOutcome::stopped);
  EXPECT_EQ(cluster.group(0).send("early", 1ms).error().code, ErrorCode::stopped);
  cluster.start();
  EXPECT_THAT(cluster.node(0).start().error().message, HasSubstr("started once"));
  EXPECT_THAT(cluster.node(0).join({.name = "late"}).error().message, HasSubstr("after start"));
  const std::string large(64 * 1024 + 1, 'x');
  const Result<Ticket> refused = cluster.group(0).send(large, 1ms);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr("65537 bytes is over the maximum of 65536"));
  EXPECT_EQ(cluster.group(0).try_claim(64 * 1024 + 1).outcome(), ClaimOutcome::too_large);
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.group(0).try_claim(1).outcome(), ClaimOutcome::stopped);
  EXPECT_TRUE(cluster.node(0).stop(1ms));
}

TEST(Node, StopWithoutTheOthersEndsAtItsDeadlineAndSaysSo) {
  TestCluster cluster({.members = 2});
  cluster.start();
  const Result<void> stopped = cluster.node(0).stop(20ms);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::timed_out);
}

TEST(Node, FinishedSendersDoNotHoldUpTheOthers) {
  TestCluster cluster({});
  cluster.start();
  cluster.group(0).finish();
  cluster.group(0).finish();
  EXPECT_EQ(cluster.group(0).try_claim(1).outcome(), ClaimOutcome::stopped);
  for (int i = 0; i < 100; ++i) {
    const Result<Ticket> ticket = cluster.group(2).send("m", kPatience);
    ASSERT_TRUE(ticket);
    ASSERT_TRUE(cluster.group(2).wait(*ticket, kPatience));
  }
  expect_ok(cluster.stop());
  EXPECT_TRUE(cluster.group(1).complete());
  EXPECT_EQ(cluster.deliveries(0).size(), 100);
}

TEST(Node, SleepingMembersAreWokenByMessages) {
  TestCluster cluster({.idle = {.spin = 0ns, .yield = 0ns, .sleep = true}});
  cluster.start();
  for (int i = 0; i < 200; ++i) {
    const Result<Ticket> ticket = cluster.group(i % 3).send("m", kPatience);
    ASSERT_TRUE(ticket);
    ASSERT_TRUE(cluster.group(i % 3).wait(*ticket, kPatience));
  }
  EXPECT_GT(cluster.node(0).statistics().sleeps, 0);
  expect_ok(cluster.stop());
  EXPECT_EQ(cluster.deliveries(0).size(), 200);
}

}  // namespace
}  // namespace tutti
