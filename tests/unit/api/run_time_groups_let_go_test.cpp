/// \file run_time_groups_let_go_test.cpp
/// What the options of a group refer to is destroyed once the group was left: by a call of the
/// application like any other, in which it may call the node, take its time, or end the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gate.hpp"
#include "heard.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

// Calls it where it is destroyed.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> call) : call_(std::move(call)) {}
  ~AtEnd() { call_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> call_;
};

// A group 'x' whose callback refers to what calls it where it is destroyed.
GroupOptions group_with(std::function<void()> at_end) {
  GroupOptions options = small_group();
  options.name = "x";
  options.on_delivery =
      [at_end = std::make_shared<AtEnd>(std::move(at_end))](std::span<const Message>) {};
  return options;
}

class LetGo : public ::testing::TestWithParam<Drive> {
 protected:
  [[nodiscard]] static ClusterOptions driven(std::size_t members) {
    ClusterOptions with = with_places(members, 2);
    with.drive = GetParam();
    return with;
  }
  // With Drive::caller, somebody must poll.
  static bool polls_until(Node& node, const std::function<bool()>& holds) {
    return until([&] {
      node.poll();
      return holds();
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Drive, LetGo, ::testing::Values(Drive::own_thread, Drive::caller),
                         [](const auto& drive) {
                           return drive.param == Drive::caller ? "caller" : "own_thread";
                         });

TEST_P(LetGo, WhatTheOptionsReferToThoughAHandleIsThere) {
  TestCluster cluster(driven(1));
  cluster.start();
  std::atomic<bool> destroyed{false};
  Group group = joined(cluster, 0, group_with([&] { destroyed = true; }));
  send(group, "one");
  EXPECT_FALSE(destroyed);
  leave(group);
  EXPECT_TRUE(polls_until(cluster.node(0), [&] { return destroyed.load(); }));
  EXPECT_EQ(group.statistics().delivered_messages, 1U) << "what a handle knows, it keeps";
  expect_ok(cluster.stop());
}

// The one who joins has options of the group as well, and does not keep them.
TEST_P(LetGo, ByTheNodeAlsoIfTheJoinHasFailed) {
  ClusterOptions with = driven(1);
  with.reserved.resize(1);
  TestCluster cluster(with);
  cluster.start();
  Heard heard;
  Group in_its_place = joined(cluster, 0, heard.group("y"));
  std::atomic<bool> destroyed{false};
  Result<void> inside;
  const Result<Group> refused = cluster.node(0).join(group_with([&] {
                                                       inside = cluster.node(0).stop(kPatience);
                                                       destroyed = true;
                                                     }),
                                                     10ms);
  ASSERT_FALSE(refused);
  ASSERT_TRUE(polls_until(cluster.node(0), [&] { return destroyed.load(); }));
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code, ErrorCode::in_callback);
  leave(in_its_place);
  expect_ok(cluster.stop());
}

TEST_P(LetGo, InACallWhoseCallsAreAnsweredAsInACallback) {
  TestCluster cluster(driven(1));
  cluster.start();
  Node& node = cluster.node(0);
  Heard other;
  Group goes_on = joined(cluster, 0, other.group("y"));
  std::optional<Group> left;
  std::vector<std::string> refused;
  std::atomic<bool> destroyed{false};
  const auto note = [&](const auto& result) {
    refused.push_back(result ? "it was done" : result.error().message);
  };
  left = joined(cluster, 0, group_with([&] {
                  Heard none;
                  note(node.join(none.group("z"), kPatience));
                  note(goes_on.leave(kPatience));
                  note(left->leave(kPatience));
                  note(node.stop(kPatience));
                  note(node.leave(kPatience));
                  note(node.send_to("a", "hello", kPatience));
                  note(goes_on.wait_complete(kPatience));
                  note(node.may_wait("a call"));
                  EXPECT_EQ(node.poll(), 0U);
                  node.wait(1h);
                  EXPECT_TRUE(goes_on.send("from a destructor", kPatience));
                  EXPECT_FALSE(left->send("too late", kPatience));
                  destroyed = true;
                }));
  leave(*left);
  ASSERT_TRUE(polls_until(node, [&] { return destroyed.load(); }));
  EXPECT_EQ(refused.size(), 8U);
  EXPECT_THAT(refused, Each(HasSubstr("called inside the delivery callback of group 'x'")));
  EXPECT_TRUE(polls_until(node, [&] { return other.has("from a destructor"); }));
  Heard again;
  Group rejoined = joined(cluster, 0, again.group("x"));
  leave(rejoined);
  expect_ok(cluster.stop());
}

TEST_P(LetGo, InACallThatDestroysTheNode) {
  TestCluster cluster(driven(1));
  cluster.start();
  std::atomic<bool> destroyed{false};
  std::optional<Node> node = std::move(cluster.life(0).node);
  cluster.life(0).node.reset();
  cluster.life(0).groups.clear();
  Result<Group> group = node->join(group_with([&] {
                                     const Node ends_here = std::move(*node);
                                     destroyed = true;
                                   }),
                                   kPatience);
  ASSERT_TRUE(group) << group.error().message;
  // Where the application drives, that happens in this very call.
  const Result<void> left = group->leave(kPatience);
  if (!left) {
    EXPECT_THAT(left.error().message, HasSubstr("was destroyed"));
  }
  ASSERT_TRUE(until([&] {
    if (GetParam() == Drive::caller && !destroyed) node->poll();
    return destroyed.load();
  }));
  ASSERT_TRUE(until([&] {
    const Result<Ticket> sent = group->send("nobody", 0s);
    return !sent && sent.error().message.find("was destroyed") != std::string::npos;
  }));
}

// Short against what a destructor takes here, long against what a busy machine keeps a thread
// waiting.
constexpr auto kSuspectAfter = 4000ms;

// Member 0 has left a group, and a destructor of what its callback refers to is at the gate.
void leave_up_to(Gate& gate, TestCluster& cluster) {
  gate.shut();
  Group slow = joined(cluster, 0, group_with([&gate] { gate.pass(); }));
  leave(slow);
  ASSERT_TRUE(until([&] { return gate.reached(); }));
}

TEST(SlowDestructors, KeepNobodyFromTheViewAndNoOtherMemberFromItsGroups) {
  ClusterOptions with = with_places(2, 2);
  with.suspect_after = kSuspectAfter;
  LogBook book;
  TestCluster cluster(with, [&](std::size_t member, NodeOptions& options) {
    options.slow_after = 500ms;
    if (member == 0) options.log = book.callback();
  });
  cluster.start();
  Gate gate;
  ASSERT_NO_FATAL_FAILURE(leave_up_to(gate, cluster));
  const auto begin = std::chrono::steady_clock::now();
  Heard b;
  do {
    Group at_b = joined(cluster, 1, b.group("y"));
    leave(at_b);
  } while (std::chrono::steady_clock::now() - begin < 3 * kSuspectAfter / 2);
  const std::string call = "a destructor of what the options of a left group refer to ";
  EXPECT_TRUE(until([&] { return book.with(call + "has been running for") != 0; }));
  gate.open();
  EXPECT_TRUE(until([&] { return book.with(call + "is over: it ran for") != 0; }));
  Heard a;
  Group again = joined(cluster, 0, a.group("x"));
  leave(again);
  for (std::size_t member = 0; member < 2; ++member) {
    EXPECT_FALSE(cluster.node(member).failure());
    EXPECT_EQ(cluster.node(member).view().members.size(), 2U);
  }
  expect_ok(cluster.stop());
}

// The stand-in hangs up meanwhile: then the node's thread passes no more.
TEST(SlowDestructors, KeepNoCallThatStopsBeyondItsTime) {
  TestCluster cluster(with_places(3, 1));
  cluster.start();
  Gate gate;
  ASSERT_NO_FATAL_FAILURE(leave_up_to(gate, cluster));
  const Result<void> late = cluster.node(0).stop(1ms);
  const bool others_go_on = until([&] { return cluster.are_in_view_of({1, 2}); });
  gate.open();
  EXPECT_TRUE(others_go_on);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::timed_out);
  EXPECT_THAT(late.error().message,
              AllOf(HasSubstr("a destructor of what the options of a left group refer to"),
                    HasSubstr("has not returned before the deadline")));
  EXPECT_TRUE(cluster.node(0).stop(kPatience));
  expect_ok(cluster.stop());
}

}  // namespace
}  // namespace tutti
