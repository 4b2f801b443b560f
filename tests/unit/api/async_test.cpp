/// \file async_test.cpp
/// Handlers, futures and coroutines that wait for a delivery or for space.
#include "tutti/async.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "gate.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A coroutine that begins at once and ends on its own.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
};

/// A group with room for few messages, whose member 0 can be kept from delivering.
class Async : public ::testing::Test {
 protected:
  Async() : cluster_({.members = 3, .groups = {options()}}) {}
  ~Async() override {
    gate_.open();
    slow_.open();
  }

  static GroupOptions options() {
    GroupOptions group = small_group(Level::atomic, DeliveryThread::own);
    group.window_messages = 4;
    return group;
  }
  void start() {
    cluster_.life(0).in_delivery = [this] { gate_.pass(); };
    cluster_.start();
  }
  /// Fills the window while member 0 delivers nothing.
  void fill() {
    gate_.shut();
    for (;;) {
      Claim claim = group().try_claim(1);
      if (claim.outcome() == ClaimOutcome::full && gate_.reached()) return;
      if (claim) last_ = group().commit(std::move(claim));
    }
  }
  Group& group() { return cluster_.group(0); }

  Gate gate_;
  Gate slow_;  // of a handler
  TestCluster cluster_;
  Ticket last_{};
};

TEST_F(Async, CallsAHandlerOnceTheMessageIsDelivered) {
  start();
  const Result<Ticket> ticket = group().send("x", kPatience);
  ASSERT_TRUE(ticket);
  std::promise<bool> told;
  ASSERT_TRUE(group().on_delivered(*ticket, [&](Result<void> outcome) {
    told.set_value(outcome.has_value() && group().delivered(*ticket));
  }));
  EXPECT_TRUE(told.get_future().get());
  // Also for one that was delivered before.
  std::promise<bool> again;
  ASSERT_TRUE(group().on_delivered(
      *ticket, [&](Result<void> outcome) { again.set_value(outcome.has_value()); }));
  EXPECT_TRUE(again.get_future().get());
}

TEST_F(Async, GivesSpaceInTheOrderOfAsking) {
  start();
  fill();
  std::atomic<int> calls = 0;
  std::vector<int> order;  // handlers run one at a time
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(group().on_space(8, [&, i](Result<Claim> claim) {
      EXPECT_TRUE(claim) << claim.error().message;
      if (claim) group().commit(std::move(*claim));
      order.push_back(i);
      ++calls;
    }));
  }
  EXPECT_EQ(calls, 0) << "member 0 delivers nothing";
  gate_.open();
  ASSERT_TRUE(until([&] { return calls == 3; }));
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST_F(Async, TellsHandlersThatTheNodeHasEnded) {
  start();
  fill();
  std::promise<Error> delivered;
  std::promise<Error> space;
  ASSERT_TRUE(group().on_delivered(last_, [&](Result<void> outcome) {
    delivered.set_value(outcome ? Error{} : outcome.error());
  }));
  ASSERT_TRUE(group().on_space(
      8, [&](Result<Claim> claim) { space.set_value(claim ? Error{} : claim.error()); }));
  Group survives = group();
  std::thread killer([&] { cluster_.kill(0); });  // it waits for the delivery
  const ErrorCode of_delivery = delivered.get_future().get().code;
  const ErrorCode of_space = space.get_future().get().code;
  gate_.open();
  killer.join();
  EXPECT_EQ(of_delivery, ErrorCode::stopped);
  EXPECT_EQ(of_space, ErrorCode::stopped);
  const Result<void> later = survives.on_delivered(last_, [](Result<void>) { FAIL(); });
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::stopped);
}

TEST_F(Async, RefusesWhatCannotCome) {
  const auto never = [](auto) { FAIL() << "it was not accepted"; };
  EXPECT_EQ(group().on_space(8, never).error().code, ErrorCode::stopped) << "not started";
  EXPECT_EQ(group().on_delivered(Ticket{1}, never).error().code, ErrorCode::invalid_argument);
  start();
  EXPECT_EQ(group().on_delivered(Ticket{0}, never).error().code, ErrorCode::invalid_argument);
  const Result<void> unknown = group().on_delivered(Ticket{1}, never);
  EXPECT_THAT(unknown.error().message, HasSubstr("ticket 1 names no message"));
  const std::uint32_t over = 1U << 24;  // of message_max_bytes
  EXPECT_EQ(group().on_space(over, never).error().code, ErrorCode::invalid_argument);
  group().finish();
  EXPECT_EQ(group().on_space(8, never).error().code, ErrorCode::stopped);
}

TEST_F(Async, EndsHandlersForSpaceWhenTheMemberFinishes) {
  start();
  fill();
  std::promise<Error> space;
  ASSERT_TRUE(group().on_space(
      8, [&](Result<Claim> claim) { space.set_value(claim ? Error{} : claim.error()); }));
  group().finish();
  EXPECT_EQ(space.get_future().get().code, ErrorCode::stopped);
}

TEST_F(Async, AHandlerMayAskAgainAndRefusesCallsThatWait) {
  start();
  std::promise<std::vector<ErrorCode>> told;
  const Result<Ticket> ticket = group().send("x", kPatience);
  ASSERT_TRUE(ticket);
  ASSERT_TRUE(group().on_delivered(*ticket, [&](Result<void>) {
    std::vector<ErrorCode> codes{cluster_.node(0).stop(kPatience).error().code,
                                 group().wait(Ticket{99}, kPatience).error().code};
    ASSERT_TRUE(group().on_delivered(*ticket, [&, codes](Result<void> outcome) {
      EXPECT_TRUE(outcome);
      told.set_value(codes);
    }));
  }));
  EXPECT_THAT(told.get_future().get(), ElementsAre(ErrorCode::in_callback, ErrorCode::in_callback));
}

TEST_F(Async, AHandlerThatThrowsEndsThatNodeAlone) {
  start();
  const Result<Ticket> ticket = group().send("x", kPatience);
  ASSERT_TRUE(ticket);
  ASSERT_TRUE(group().on_delivered(*ticket, [](Result<void>) { throw std::runtime_error("no"); }));
  ASSERT_TRUE(until([&] { return cluster_.node(0).failure().has_value(); }));
  EXPECT_THAT(cluster_.node(0).failure()->message,
              HasSubstr("a completion handler of group 'log' of node 'a' failed: it threw: no"));
  EXPECT_TRUE(until([&] { return cluster_.are_in_view_of({1, 2}); }));
}

TEST_F(Async, AHandlerThatBlocksHoldsUpTheEndAndIsNamed) {
  start();
  slow_.shut();
  const Result<Ticket> ticket = group().send("x", kPatience);
  ASSERT_TRUE(ticket);
  ASSERT_TRUE(group().on_delivered(*ticket, [&](Result<void>) { slow_.pass(); }));
  ASSERT_TRUE(until([&] { return slow_.reached(); }));
  const Result<Ticket> more = group().send("y", kPatience);
  ASSERT_TRUE(more && group().wait(*more, kPatience)) << "the group goes on";
  const Result<void> stopped = cluster_.node(0).leave(std::chrono::milliseconds(1));
  ASSERT_FALSE(stopped);
  const Result<void> again = cluster_.node(0).leave(std::chrono::milliseconds(1));
  EXPECT_THAT(again ? std::string() : again.error().message,
              HasSubstr("a completion handler of group 'log'"));
  slow_.open();
  EXPECT_TRUE(until([&] {
    const Result<void> last = cluster_.node(0).leave(kPatience);
    return last || !last.error().message.contains("a completion handler");
  }));
}

// What others commit behind a claim waits for it: it is made when its handler may be called.
TEST_F(Async, ASlowHandlerHoldsUpOtherHandlersAlone) {
  start();
  slow_.shut();
  const Result<Ticket> ticket = group().send("x", kPatience);
  ASSERT_TRUE(ticket);
  std::promise<bool> space;
  ASSERT_TRUE(group().on_delivered(*ticket, [&](Result<void>) { slow_.pass(); }));
  ASSERT_TRUE(
      group().on_space(8, [&](Result<Claim> claim) { space.set_value(claim.has_value()); }));
  ASSERT_TRUE(until([&] { return slow_.reached(); }));
  const Result<Ticket> other = group().send("y", kPatience);
  ASSERT_TRUE(other && group().wait(*other, kPatience));
  slow_.open();
  EXPECT_TRUE(space.get_future().get());
}

TEST_F(Async, KnowsWhatWasDeliveredBeforeTheEnd) {
  start();
  const Result<Ticket> ticket = group().send("x", kPatience);
  ASSERT_TRUE(ticket && group().wait(*ticket, kPatience));
  Group survives = group();
  cluster_.kill(0);
  EXPECT_TRUE(delivery_future(survives, *ticket).get());
  EXPECT_FALSE(delivery_future(survives, Ticket{2}).get());
}

TEST_F(Async, FuturesAndCoroutines) {
  start();
  const Result<Ticket> ticket = group().send("x", kPatience);
  ASSERT_TRUE(ticket);
  EXPECT_TRUE(delivery_future(group(), *ticket).get());
  EXPECT_EQ(delivery_future(group(), Ticket{0}).get().error().code, ErrorCode::invalid_argument);
  fill();
  constexpr int kMessages = 100;
  std::promise<int> all;
  const auto sender = [&](Group to) -> Task {
    int sent = 0;
    for (; sent < kMessages; ++sent) {
      Result<Claim> claim = co_await space(to, 8);
      if (!claim) break;
      const Ticket given = to.commit(std::move(*claim));
      if (const Result<void> done = co_await delivery(to, given); !done) break;
    }
    all.set_value(sent);
  };
  sender(group());
  gate_.open();
  EXPECT_EQ(all.get_future().get(), kMessages);
}

TEST(AsyncRequests, AreAwaitedByCoroutines) {
  TestCluster cluster({.members = 2}, [](std::size_t, NodeOptions& options) {
    options.request_max_bytes = 64;
    options.on_request = [](const Request& request) -> Result<std::vector<std::byte>> {
      if (request.bytes.empty()) return fail(ErrorCode::refused, "nothing was asked");
      return bytes_of("to " + std::string(request.from) + ": " + std::string(request.text()));
    };
  });
  cluster.start();
  std::promise<std::vector<std::string>> all;
  const auto asks = [&](Node& node) -> Task {
    std::vector<std::string> outcomes;
    for (const std::string& question : {std::string("x"), std::string()}) {
      const Result<Reply> got =
          co_await reply(node, "b", std::as_bytes(std::span(question)), kPatience);
      outcomes.push_back(got ? std::string(got->text()) : got.error().message);
    }
    all.set_value(outcomes);
  };
  asks(cluster.node(0));
  EXPECT_THAT(all.get_future().get(),
              ::testing::ElementsAre("to a: x", HasSubstr("nothing was asked")));
}

TEST(AsyncDrivenByTheCaller, CallsHandlersWhileTheApplicationPolls) {
  TestCluster cluster({.members = 1, .drive = Drive::caller, .groups = {small_group()}});
  cluster.start();
  const Result<Ticket> ticket = cluster.group(0).send("x", kPatience);
  ASSERT_TRUE(ticket);
  std::atomic<bool> told = false;
  ASSERT_TRUE(cluster.group(0).on_delivered(*ticket, [&](Result<void> outcome) {
    EXPECT_TRUE(outcome);
    told = true;
  }));
  EXPECT_TRUE(until([&] {
    cluster.node(0).poll();
    return told.load();
  }));
}

}  // namespace
}  // namespace tutti
