/// \file run_time_groups_test.cpp
/// Groups that members join and leave after their nodes have started: what they carry, and to whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "heard.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunTimeGroups : public ::testing::TestWithParam<FabricChoice> {
 protected:
  static ClusterOptions options(std::size_t members = 3, std::size_t reserved = 2) {
    ClusterOptions of = with_places(members, reserved);
    of.fabric = GetParam();
    return of;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, RunTimeGroups, ::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                         [](const auto& fabric) { return std::string(to_string(fabric.param)); });

TEST_P(RunTimeGroups, CarryMessagesAmongThoseWhoJoined) {
  TestCluster cluster(options());
  cluster.start();
  Heard b;
  Heard c;
  Group at_b = joined(cluster, 1, b.group("x"));
  send(at_b, "first");
  ASSERT_TRUE(until([&] { return b.has("first"); }));
  Group at_c = joined(cluster, 2, c.group("x"));
  send(at_c, "from c");
  send(at_b, "from b");
  ASSERT_TRUE(until([&] { return b.has("from b") && c.has("from b"); }));
  ASSERT_TRUE(until([&] { return b.has("from c") && c.has("from c"); }));
  EXPECT_EQ(b.texts().size(), 3U);
  EXPECT_EQ(c.texts().size(), 2U) << "it is given nothing of the views before";
  EXPECT_EQ(at_c.name_of(at_c.own_index()), cluster.life(2).name);
  cluster.talk({0, 1, 2});
  ASSERT_TRUE(cluster.hear_more({0, 1, 2})) << "the other group goes on";
  cluster.hush();
  expect_ok(cluster.stop());
}

TEST_P(RunTimeGroups, AreLeftWithAllThatWasSentDelivered) {
  TestCluster cluster(options());
  cluster.start();
  Heard a;
  Heard b;
  Group at_a = joined(cluster, 0, a.group("x"));
  Group at_b = joined(cluster, 1, b.group("x"));
  for (int i = 0; i < 200; ++i) send(at_a, "a" + std::to_string(i));
  leave(at_a);
  EXPECT_TRUE(b.has("a199")) << "each member has delivered it";
  EXPECT_EQ(a.texts(), b.texts());
  send(at_b, "alone");
  ASSERT_TRUE(until([&] { return b.has("alone"); }));
  EXPECT_FALSE(a.has("alone")) << "its callback is called no more";
  EXPECT_EQ(b.texts().size(), 201U);
  expect_ok(cluster.stop());
}

TEST_P(RunTimeGroups, UseTheirPlaceAgain) {
  TestCluster cluster(options(2, 1));
  cluster.start();
  for (int round = 0; round < 20; ++round) {
    Heard a;
    Heard b;
    const std::string name = round % 3 == 0 ? "x" : "x" + std::to_string(round);
    Group at_a = joined(cluster, 0, a.group(name));
    Group at_b = joined(cluster, 1, b.group(name));
    for (int i = 0; i < 10 + round; ++i) {
      send(at_a, std::to_string(round) + "." + std::to_string(i));
    }
    send(at_b, "end");
    ASSERT_TRUE(until([&] { return a.has("end") && b.has("end"); }));
    leave(at_a);
    leave(at_b);
    EXPECT_EQ(b.texts().size(), static_cast<std::size_t>(11 + round));
    EXPECT_EQ(a.texts(), b.texts());
    if (HasFailure()) break;
  }
  expect_ok(cluster.stop());
}

TEST_P(RunTimeGroups, OutliveAMemberThatDies) {
  TestCluster cluster(options());
  cluster.start();
  Heard b;
  Heard c;
  Heard again;
  Group at_b = joined(cluster, 1, b.group("x"));
  {
    Group at_c = joined(cluster, 2, c.group("x"));
    send(at_c, "last words");
    ASSERT_TRUE(until([&] { return b.has("last words"); }));
  }
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  send(at_b, "still here");
  ASSERT_TRUE(until([&] { return b.has("still here"); }));
  cluster.renew(2);
  cluster.start({2});
  Group at_c = joined(cluster, 2, again.group("x"));
  send(at_b, "welcome");
  ASSERT_TRUE(until([&] { return again.has("welcome"); }));
  EXPECT_THAT(again.texts(), ElementsAre("welcome")) << "what its former life wished is forgotten";
  expect_ok(cluster.stop());
}

TEST_P(RunTimeGroups, CloseIfTheirOnlyMemberDies) {
  TestCluster cluster(options(3, 1));
  cluster.start();
  Heard c;
  Heard a;
  Group at_c = joined(cluster, 2, c.group("x"));
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  Group at_a = joined(cluster, 0, a.group("y"));
  send(at_a, "in its place");
  ASSERT_TRUE(until([&] { return a.has("in its place"); }));
  EXPECT_FALSE(at_c.send("gone", 1s)) << "its handle outlives the node";
  expect_ok(cluster.stop());
}

TEST_P(RunTimeGroups, AreKnownToANodeThatJoinsTheCluster) {
  ClusterOptions with = options(3, 1);
  with.founders = 2;
  TestCluster cluster(with);
  cluster.start({0, 1});
  Heard a;
  Heard c;
  Group at_a = joined(cluster, 0, a.group("x"));
  cluster.start({2});
  const Result<Group> other = cluster.node(2).join(c.group("y"), 200ms);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("in use"));
  Group at_c = joined(cluster, 2, c.group("x"));
  send(at_a, "to both");
  ASSERT_TRUE(until([&] { return a.has("to both") && c.has("to both"); }));
  expect_ok(cluster.stop());
}

TEST_P(RunTimeGroups, ComeAndGoWhileAllMembersSend) {
  TestCluster cluster(options(3, 3));
  cluster.start();
  cluster.talk({0, 1, 2});
  std::vector<std::jthread> threads;
  for (std::size_t member = 0; member < 3; ++member) {
    threads.emplace_back([&cluster, member] {
      for (int round = 0; round < 8; ++round) {
        Heard heard;
        Group group = joined(cluster, member, heard.group("t" + std::to_string(round)));
        for (int i = 0; i < 20; ++i) {
          send(group, std::to_string(member) + "." + std::to_string(i));
        }
        EXPECT_TRUE(until([&] { return heard.has(std::to_string(member) + ".19"); }));
        leave(group);
      }
    });
  }
  threads.clear();
  cluster.hush();
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

// Each round is two changes of view, in which nothing of the other group may be lost or come twice.
TEST_P(RunTimeGroups, DisturbNoOtherGroupInAHundredRounds) {
  TestCluster cluster(options(3, 1));
  cluster.start();
  cluster.talk({0, 1, 2});
  for (int round = 0; round < 100; ++round) {
    Heard heard;
    Group group = joined(cluster, static_cast<std::size_t>(round % 3), heard.group("x"));
    send(group, "once");
    leave(group);
    EXPECT_THAT(heard.texts(), ElementsAre("once"));
    if (HasFailure()) break;
  }
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  cluster.hush();
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

}  // namespace
}  // namespace tutti
