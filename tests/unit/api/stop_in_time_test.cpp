/// \file stop_in_time_test.cpp
/// What stops or leaves returns at its time-out, though a callback runs: the node calls the
/// application no more, the others go on without it, and what comes next waits for the callback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "callback_nodes.hpp"
#include "cluster.hpp"
#include "gate.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Nobody is suspected while a test lasts: what the others learn, they were told.
constexpr auto kNeverSuspect = 600s;

using How = std::tuple<FabricChoice, DeliveryThread>;

class StopInTime : public ::testing::TestWithParam<How> {
 protected:
  ~StopInTime() override { gate.open(); }

  // The first member is in a delivery callback, which does not return.
  void get_stuck() {
    cluster.life(0).in_delivery = [this] { gate.pass(); };
    cluster.start();
    gate.shut();
    ASSERT_TRUE(cluster.group(1).send("x", kPatience));
    ASSERT_TRUE(until([this] { return gate.reached(); }));
  }

  static void expect_late(const Result<void>& ended) {
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::timed_out);
    EXPECT_THAT(ended.error().message,
                AllOf(HasSubstr("the delivery callback of group 'log' of node 'a'"),
                      HasSubstr("has not returned before the deadline"),
                      HasSubstr("Let the callback return")));
  }

  static GroupOptions group() {
    return small_group(Level::atomic, std::get<DeliveryThread>(GetParam()));
  }

  LogBook log;
  Gate gate;
  TestCluster cluster{{.members = 3,
                       .fabric = std::get<FabricChoice>(GetParam()),
                       .groups = {group()},
                       .suspect_after = kNeverSuspect},
                      [this](std::size_t member, NodeOptions& node) {
                        if (member == 0) node.log = log.callback();
                      }};
};

INSTANTIATE_TEST_SUITE_P(On, StopInTime,
                         ::testing::Combine(::testing::Values(FabricChoice::shm, FabricChoice::tcp),
                                            ::testing::Values(DeliveryThread::predicate,
                                                              DeliveryThread::own)),
                         [](const auto& how) {
                           const bool own = std::get<1>(how.param) == DeliveryThread::own;
                           return std::string(to_string(std::get<0>(how.param))) +
                                  (own ? "_own_thread" : "");
                         });

TEST_P(StopInTime, ReturnsThoughACallbackDoesNot) {
  ASSERT_NO_FATAL_FAILURE(get_stuck());
  expect_late(cluster.node(0).stop(1ms));
  EXPECT_FALSE(cluster.node(0).failure());
  const Result<Ticket> sent = cluster.group(0).send("y", kPatience);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::stopped);
  EXPECT_THAT(sent.error().message, HasSubstr("node 'a' has stopped"));
  expect_late(cluster.node(0).leave(1ms));
  expect_late(cluster.node(0).stop(1ms));
  gate.open();
  const Result<void> stopped = cluster.node(0).stop(kPatience);
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(cluster.journal(0).messages(), 1U);
}

TEST_P(StopInTime, OfLeaveToo) {
  ASSERT_NO_FATAL_FAILURE(get_stuck());
  expect_late(cluster.node(0).leave(1ms));
  gate.open();
  const Result<void> left = cluster.node(0).leave(kPatience);
  EXPECT_TRUE(left) << left.error().message;
}

// They do not wait for the callback, and suspect nobody.
TEST_P(StopInTime, LetsTheOthersGoOnAtOnce) {
  ASSERT_NO_FATAL_FAILURE(get_stuck());
  expect_late(cluster.node(0).stop(1ms));
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2}); }));
  for (const std::size_t member : {1U, 2U}) {
    const std::vector<Departure> left = cluster.journal(member).stretches().back().view.left;
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].member, "a");
    EXPECT_EQ(left[0].reason, LeftReason::left);
  }
  gate.open();
  EXPECT_TRUE(cluster.node(0).stop(kPatience));
  cluster.talk({1, 2});
  ASSERT_TRUE(cluster.hear_more({1, 2}));
  expect_ok(cluster.stop());
  cluster.expect_one_story();
}

TEST_P(StopInTime, IsWhatTheDestructorGoesOnFrom) {
  ASSERT_NO_FATAL_FAILURE(get_stuck());
  expect_late(cluster.node(0).stop(1ms));
  std::atomic<bool> gone{false};
  std::thread destroyer([&] {
    cluster.life(0).node.reset();
    gone = true;
  });
  EXPECT_TRUE(until([&] {
    return log.with("node 'a' is destroyed: that waits for the delivery callback of group 'log'") ==
           1;
  }));
  EXPECT_FALSE(gone) << "the callback runs with the application's memory";
  gate.open();
  destroyer.join();
}

// A destructor alone has decided as well that the member goes.
TEST_P(StopInTime, IsNoLessThanADestructorThatWaits) {
  ASSERT_NO_FATAL_FAILURE(get_stuck());
  std::thread destroyer([&] { cluster.life(0).node.reset(); });
  EXPECT_TRUE(until([&] { return cluster.are_in_view_of({1, 2}); }));
  gate.open();
  destroyer.join();
}

// The stuck member holds more messages, of this view and of the next. It delivers none of them.
TEST_P(StopInTime, BeginsNoCallback) {
  ASSERT_NO_FATAL_FAILURE(get_stuck());
  cluster.talk(1);
  // Counted from the first: the window, which the stuck member keeps full, has room for no others.
  ASSERT_TRUE(until(
      [&] { return cluster.journal(1).messages() >= 20 && cluster.journal(2).messages() >= 20; }));
  cluster.hush(1);
  cluster.life(0).in_view = [] { ADD_FAILURE() << "a view was told"; };
  expect_late(cluster.node(0).stop(1ms));
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2}); }));
  gate.open();
  EXPECT_TRUE(cluster.node(0).stop(kPatience));
  // A batch may have held more than the first message.
  EXPECT_LT(cluster.journal(0).messages(), 20U);
}

TEST_P(StopInTime, IsToldByWhoFailedToo) {
  ASSERT_NO_FATAL_FAILURE(get_stuck());
  cluster.kill(1);
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.node(0).failure().has_value(); }));
  const Result<void> stopped = cluster.node(0).stop(1ms);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, cluster.node(0).failure()->code);
  EXPECT_THAT(
      stopped.error().message,
      AllOf(HasSubstr(cluster.node(0).failure()->message),
            HasSubstr("the delivery callback of group 'log' of node 'a' has not returned")));
}

TEST(StopOfANode, ThatHasFailedEndsWithThat) {
  LogBook log;
  TestCluster cluster({.members = 2, .groups = {small_group()}},
                      [&](std::size_t, NodeOptions& node) { node.log = log.callback(); });
  Gate gate;
  gate.shut();
  cluster.life(0).in_delivery = [&] { gate.pass(); };
  cluster.start();
  ASSERT_TRUE(cluster.group(1).send("x", kPatience));
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  cluster.kill(1);
  EXPECT_TRUE(until([&] { return cluster.node(0).failure().has_value(); }));
  Result<void> stopped;
  std::thread stopper([&] { stopped = cluster.node(0).stop(kPatience); });
  for (int look = 0; look < 100; ++look) std::this_thread::sleep_for(1ms);  // for a word too many
  gate.open();
  stopper.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, cluster.node(0).failure()->message);
  cluster.kill(0);  // what was said is written
  EXPECT_EQ(log.with("is destroyed: that waits"), 0U);
}

class StopFromCallbacks : public ::testing::TestWithParam<Threads> {};

INSTANTIATE_TEST_SUITE_P(On, StopFromCallbacks,
                         ::testing::Values(Threads{}, Threads{.delivery = DeliveryThread::own},
                                           Threads{.drive = Drive::caller}),
                         [](const auto& threads) {
                           const Threads& how = threads.param;
                           const bool own = how.delivery == DeliveryThread::own;
                           return std::string(how.drive == Drive::caller ? "polled"
                                              : own                      ? "own_thread"
                                                                         : "predicate");
                         });

TEST_P(StopFromCallbacks, OfEachOtherReturnAtTheirTimeOut) {
  std::unique_ptr<CallbackNode> a;
  std::unique_ptr<CallbackNode> b;
  std::atomic<int> inside{0};
  std::atomic<int> returned{0};
  std::atomic<bool> stops{false};
  const auto stop_other = [&](std::unique_ptr<CallbackNode>& other) {
    if (!stops) return;
    ++inside;
    if (!until([&] { return inside == 2; })) return;
    const Result<void> stopped = other->node().stop(50ms);
    ++returned;
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::timed_out);
    EXPECT_TRUE(until([&] { return returned == 2; }));  // nobody's callback ends before that
  };
  const std::vector<MemberAddress> members = loopback_members(2);
  a = std::make_unique<CallbackNode>(members, 0, 0, GetParam(),
                                     Hooks{.in_delivery = [&] { stop_other(b); }});
  b = std::make_unique<CallbackNode>(members, 1, 0, GetParam(),
                                     Hooks{.in_delivery = [&] { stop_other(a); }});
  start_all({a.get(), b.get()});
  stops = true;
  ASSERT_TRUE(a->group().send("x", kPatience));
  EXPECT_TRUE(until([&] { return returned == 2; }));
  a->rest();
  b->rest();
  a->destroy();
  b->destroy();
}

TEST(StopOfAGiver, ReturnsThoughItStillSaves) {
  Gate gate;
  gate.shut();
  const std::vector<MemberAddress> members = loopback_members(3);
  CallbackNode a(members, 0, 2, {}, {.in_save = [&] { gate.pass(); }});
  CallbackNode b(members, 1, 2, {}, {});
  CallbackNode c(members, 2, 2, {}, {});
  start_all({&a, &b});
  std::thread joiner([&] { EXPECT_TRUE(c.start()); });
  EXPECT_TRUE(until([&] { return gate.reached(); }));
  const Result<void> stopped = a.node().stop(1ms);
  EXPECT_FALSE(stopped);
  if (!stopped) {
    EXPECT_EQ(stopped.error().code, ErrorCode::timed_out);
    EXPECT_THAT(stopped.error().message, HasSubstr("save_state of group 'log' of node 'a'"));
  }
  joiner.join();
  EXPECT_TRUE(until([&] { return b.node().view().members.size() == 2; }));
  gate.open();
  EXPECT_TRUE(a.node().stop(kPatience));
  stop_all({&b, &c});
}

TEST(StopOfAView, ReturnsThoughItIsStillTold) {
  Gate gate;
  const std::vector<MemberAddress> members = loopback_members(3);
  CallbackNode a(members, 0, 2, {}, {.in_view = [&](const ViewChange&) { gate.pass(); }});
  CallbackNode b(members, 1, 2, {}, {});
  CallbackNode c(members, 2, 2, {}, {});
  start_all({&a, &b});
  gate.shut();
  start_all({&c});
  EXPECT_TRUE(until([&] { return gate.reached(); }));
  const Result<void> stopped = a.node().stop(1ms);
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("the view callback of node 'a'"));
  EXPECT_TRUE(until([&] { return b.node().view().members.size() == 2; }));
  gate.open();
  EXPECT_TRUE(a.node().stop(kPatience));
  stop_all({&b, &c});
}

}  // namespace
}  // namespace tutti
