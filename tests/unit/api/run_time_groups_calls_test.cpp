/// \file run_time_groups_calls_test.cpp
/// Groups that are joined after the start: what the calls for them refuse and say, and how they
/// end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gate.hpp"
#include "heard.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GroupOptions shorter() {
  GroupOptions group = small_group();
  group.message_max_bytes = 128;
  return group;
}

bool is_readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

TEST(RunTimeGroupCalls, SayThatTheGroupWasLeft) {
  TestCluster cluster(with_places(2, 1));
  cluster.start();
  Heard heard;
  Heard other;
  Group group = joined(cluster, 0, heard.group("x"));
  Group goes_on = joined(cluster, 1, other.group("x"));
  const Result<Ticket> ticket = group.send("one", kPatience);
  ASSERT_TRUE(ticket);
  leave(group);
  const auto says_left = [](const auto& result) {
    return !result && result.error().code == ErrorCode::stopped &&
           result.error().message.find("has left it") != std::string::npos;
  };
  EXPECT_EQ(group.try_claim(1).outcome(), ClaimOutcome::stopped);
  EXPECT_TRUE(says_left(group.claim(1, kPatience)));
  EXPECT_TRUE(says_left(group.send("two", kPatience)));
  EXPECT_TRUE(says_left(group.barrier(kPatience)));
  EXPECT_TRUE(says_left(group.wait_complete(kPatience)));
  EXPECT_TRUE(says_left(group.on_space(1, [](Result<Claim>) {})));
  EXPECT_TRUE(says_left(group.on_delivered(*ticket, [](Result<void>) {})));
  EXPECT_TRUE(group.delivered(*ticket));
  EXPECT_TRUE(group.wait(*ticket, 1s));
  EXPECT_TRUE(group.view_of(*ticket).has_value());
  EXPECT_EQ(group.statistics().delivered_messages, 1U);
  EXPECT_TRUE(group.lags().empty());
  EXPECT_TRUE(group.leave(1s)) << "it is what was asked for";
  group.finish();
  expect_ok(cluster.stop());
  EXPECT_FALSE(group.send("three", 1s));
}

TEST(RunTimeGroupCalls, TakeBatchesUntilTheGroupIsLeft) {
  ClusterOptions with = with_places(2, 1);
  with.reserved[0].delivery = DeliveryThread::application;
  TestCluster cluster(with);
  cluster.start();
  GroupOptions taken = with.reserved[0];
  taken.name = "x";
  Group at_a = joined(cluster, 0, taken);
  Group at_b = joined(cluster, 1, taken);
  const Result<int> fd = at_b.event_fd();
  ASSERT_TRUE(fd);
  send(at_a, "take me");
  for (Group* group : {&at_a, &at_b}) {
    Result<Batch> batch = group->take(16, kPatience);
    ASSERT_TRUE(batch) << batch.error().message;
    ASSERT_EQ(batch->size(), 1U);
    EXPECT_EQ((*batch)[0].text(), "take me");
  }
  send(at_b, "untaken");
  // Not before it is delivered.
  EXPECT_TRUE(until([&] {
    const Result<void> late = at_b.leave(100ms);
    return !late && late.error().code == ErrorCode::timed_out &&
           late.error().message.contains("must take what is left");
  }));
  for (Group* group : {&at_a, &at_b}) {
    const Result<Batch> batch = group->take(16, kPatience);
    ASSERT_TRUE(batch) << batch.error().message;
    EXPECT_EQ((*batch)[0].text(), "untaken");
  }
  std::jthread waits([&at_b] {
    const Result<Batch> nothing = at_b.take(16, kPatience);
    ASSERT_FALSE(nothing);
    EXPECT_THAT(nothing.error().message, HasSubstr("has left it"));
  });
  leave(at_b);
  waits.join();
  EXPECT_TRUE(is_readable(*fd)) << "like a socket at its end";
  leave(at_a);
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, RefuseOtherOptionsThanWereReserved) {
  TestCluster cluster(with_places(1, 1));
  const Result<Group> early = cluster.node(0).join(small_group(), 1s);
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message, HasSubstr("has started"));
  cluster.start();
  const auto refused = [&](const std::function<void(GroupOptions&)>& change) {
    GroupOptions group = small_group();
    group.name = "x";
    change(group);
    const Result<Group> joined = cluster.node(0).join(group, kPatience);
    return joined ? "it was joined" : joined.error().message;
  };
  EXPECT_THAT(refused([](GroupOptions& g) { g.message_max_bytes = 255; }),
              HasSubstr("message_max_bytes is 255 at this call but 256 at Node::reserve"));
  EXPECT_THAT(refused([](GroupOptions& g) { g.members = {"a"}; }), HasSubstr("leave them empty"));
  EXPECT_THAT(refused([](GroupOptions& g) { g.tick_every = 1s; }), HasSubstr("no ticks"));
  EXPECT_THAT(refused([](GroupOptions& g) { g.delivery = DeliveryThread::own; }),
              HasSubstr("no thread of its own"));
  EXPECT_THAT(refused([](GroupOptions& g) { g.delivery = DeliveryThread::application; }),
              HasSubstr("reserved with 'predicate' at this node"));
  EXPECT_THAT(refused([](GroupOptions& g) { g.name = "log"; }), HasSubstr("from the start on"));
  EXPECT_THAT(refused([](GroupOptions& g) { g.name = std::string(65, 'x'); }),
              HasSubstr("at most 64 bytes"));
  EXPECT_FALSE(cluster.node(0).reserve(small_group(), 1));
  EXPECT_THAT(cluster.group(0).leave(1s).error().message, HasSubstr("joined before start"));
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, RefuseToReserveWhatCannotBe) {
  TestCluster cluster(with_places(1, 0));
  Node& node = cluster.node(0);
  const auto refused = [&](const GroupOptions& shape, std::size_t count = 1) {
    const Result<void> reserved = node.reserve(shape, count);
    return reserved ? "it was reserved" : reserved.error().message;
  };
  GroupOptions logged = small_group();
  logged.logged = true;
  EXPECT_THAT(refused(logged), HasSubstr("has no log"));
  GroupOptions stateful = small_group();
  stateful.stateful = true;
  EXPECT_THAT(refused(stateful), HasSubstr("has no state"));
  EXPECT_THAT(refused(small_group(Level::agreed)), HasSubstr("at level 'atomic'"));
  EXPECT_THAT(refused(small_group(Level::unordered)), HasSubstr("at level 'atomic'"));
  EXPECT_THAT(refused(small_group(), 0), HasSubstr("1 to 64 in all"));
  EXPECT_THAT(refused(small_group(), 65), HasSubstr("1 to 64 in all"));
  ASSERT_TRUE(node.reserve(small_group(), 64));
  EXPECT_THAT(refused(small_group()), HasSubstr("and has 64"));
}

TEST(RunTimeGroupCalls, DifferAtTheStart) {
  TestCluster cluster(with_places(2, 0));
  ASSERT_TRUE(cluster.node(0).reserve(small_group(), 1));
  ASSERT_TRUE(cluster.node(1).reserve(shorter(), 1));
  std::vector<Result<void>> started(2);
  {
    std::jthread other([&] { started[1] = cluster.node(1).start(); });
    started[0] = cluster.node(0).start();
  }
  for (const Result<void>& result : started) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr("group '(reserved 1)': message_max_bytes is"));
  }
}

TEST(RunTimeGroupCalls, NeedAPlaceThatWasReserved) {
  TestCluster cluster(with_places(1, 0));
  cluster.start();
  Heard heard;
  const Result<Group> none = cluster.node(0).join(heard.group("x"), kPatience);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("call Node::reserve"));
  const Result<Group> plain = cluster.node(0).join(heard.group("x"));
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("join it with a time-out"));
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, NameBothValuesOfAMismatch) {
  ClusterOptions with = with_places(2, 1);
  with.reserved.push_back(shorter());
  TestCluster cluster(with);
  cluster.start();
  Heard a;
  Group at_a = joined(cluster, 0, a.group("x"));
  GroupOptions other = shorter();
  other.name = "x";
  const Result<Group> refused = cluster.node(1).join(other, kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::mismatch);
  EXPECT_THAT(refused.error().message,
              HasSubstr("group 'x': message_max_bytes is 128 at " + cluster.life(1).name +
                        " but 256 at " + cluster.life(0).name));
  other.name = "y";
  EXPECT_TRUE(cluster.node(1).join(other, kPatience));
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, AreRefusedInTimeBeyondWhatWasReserved) {
  TestCluster cluster(with_places(2, 1));
  cluster.start();
  Heard a;
  Heard b;
  Group at_a = joined(cluster, 0, a.group("x"));
  ASSERT_TRUE(until([&] { return cluster.node(1).view().view >= cluster.node(0).view().view; }));
  const Result<Group> refused = cluster.node(1).join(b.group("y"), 300ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::timed_out);
  EXPECT_THAT(refused.error().message, HasSubstr("in use"));
  EXPECT_FALSE(cluster.node(0).join(a.group("x"), kPatience)) << "it has joined it already";
  leave(at_a);
  Group at_b = joined(cluster, 1, b.group("z"));
  send(at_b, "now");
  ASSERT_TRUE(until([&] { return b.has("now"); }));
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, WaitInNoCallback) {
  TestCluster cluster(with_places(1, 1));
  std::atomic<int> refused{0};
  Heard heard;
  std::optional<Group> group;
  const auto note = [&refused](const auto& result) {
    if (!result && result.error().code == ErrorCode::in_callback) ++refused;
  };
  cluster.life(0).in_delivery = [&] {
    note(cluster.node(0).join(heard.group("y"), kPatience));
    note(group->leave(kPatience));
  };
  cluster.start();
  group = joined(cluster, 0, heard.group("x"));
  send(cluster.group(0), "go");
  ASSERT_TRUE(until([&] { return refused == 2; }));
  leave(*group);
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, LeaveLaterIfAMemberIsSlow) {
  TestCluster cluster(with_places(2, 1));
  cluster.start();
  Heard a;
  Gate gate;
  GroupOptions slow = small_group();
  slow.name = "x";
  slow.on_delivery = [&gate](std::span<const Message>) { gate.pass(); };
  Group at_a = joined(cluster, 0, a.group("x"));
  Group at_b = joined(cluster, 1, slow);
  gate.shut();
  send(at_a, "slow");
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  const Result<void> late = at_a.leave(200ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::timed_out);
  EXPECT_FALSE(at_a.send("more", 1s)) << "it sends nothing more";
  gate.open();
  leave(at_a);
  leave(at_b);
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, WaitForClaimsAndHandlersBeforeTheGroupIsLeft) {
  TestCluster cluster(with_places(2, 1));
  cluster.start();
  Heard heard;
  std::atomic<int> called{0};
  std::atomic<int> refused{0};
  {
    Group group = joined(cluster, 0, heard.group("x"));
    const Result<Ticket> ticket = group.send("one", kPatience);
    ASSERT_TRUE(ticket);
    ASSERT_TRUE(
        group.on_delivered(*ticket, [&](Result<void> outcome) { called += outcome ? 1 : 0; }));
    std::vector<Claim> claims;
    for (Claim claim = group.try_claim(200); claim; claim = group.try_claim(200)) {
      claims.push_back(std::move(claim));
    }
    ASSERT_TRUE(group.on_space(200, [&](Result<Claim> outcome) { refused += outcome ? 0 : 1; }));
    const Result<void> late = group.leave(200ms);
    ASSERT_FALSE(late) << "claims are open";
    EXPECT_EQ(late.error().code, ErrorCode::timed_out);
    claims.clear();
    leave(group);
  }
  ASSERT_TRUE(until([&] { return called == 1 && refused == 1; }));
  Group again = joined(cluster, 0, heard.group("x"));
  send(again, "again");
  ASSERT_TRUE(until([&] { return heard.has("again"); }));
  EXPECT_THAT(heard.texts(), ElementsAre("one", "again"))
      << "claims that were dropped send nothing";
  expect_ok(cluster.stop());
}

TEST(RunTimeGroupCalls, EndWithTheNode) {
  TestCluster cluster(with_places(2, 1));
  cluster.start();
  Heard a;
  Heard b;
  Group at_a = joined(cluster, 0, a.group("x"));
  Group at_b = joined(cluster, 1, b.group("x"));
  for (int i = 0; i < 100; ++i) send(at_a, std::to_string(i));
  // There is no place for it, so it waits until its node is stopped.
  std::jthread waits([&] {
    Heard none;
    const Result<Group> joined = cluster.node(0).join(none.group("y"), kPatience);
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().code, ErrorCode::stopped);
  });
  expect_ok(cluster.stop());
  waits.join();
  EXPECT_EQ(a.texts().size(), 100U);
  EXPECT_EQ(b.texts(), a.texts());
  EXPECT_THAT(at_a.leave(1s).error().message, HasSubstr("has stopped"));
}

TEST(RunTimeGroupCalls, WorkWhereTheApplicationDrives) {
  ClusterOptions with = with_places(1, 1);
  with.drive = Drive::caller;
  TestCluster cluster(with);
  cluster.start();
  for (int round = 0; round < 10; ++round) {
    Heard heard;
    Group group = joined(cluster, 0, heard.group("x"));
    send(group, "one");
    leave(group);
    EXPECT_THAT(heard.texts(), ElementsAre("one"));
  }
  expect_ok(cluster.stop());
}

}  // namespace
}  // namespace tutti
