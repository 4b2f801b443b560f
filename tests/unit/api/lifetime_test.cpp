/// \file lifetime_test.cpp
/// Nodes that were moved, and handles and claims that outlive their node: they are safe to use, and
/// say what became of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "callback_nodes.hpp"
#include "gate.hpp"
#include "mapped_rows.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CallbackNode alone(Threads threads = {}) { return {loopback_members(1), 0, 0, threads, {}}; }

TEST(Lifetime, ANodeThatWasMovedFromSaysSo) {
  CallbackNode owner = alone();
  ASSERT_TRUE(owner.start());
  const Node moved = std::move(owner.node());
  Node& empty = owner.node();  // NOLINT(bugprone-use-after-move): what this test is about
  for (const Result<void>& result : {empty.start(), empty.stop(1ms), empty.leave(1ms)}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(result.error().message, HasSubstr("moved from"));
  }
  EXPECT_THAT(empty.join({.name = "x"}).error().message, HasSubstr("moved from"));
  EXPECT_THAT(empty.failure()->message, HasSubstr("moved from"));
  EXPECT_EQ(empty.view().view, 0);
  EXPECT_EQ(empty.poll(), 0);
  empty.wait(1ms);
  EXPECT_EQ(empty.statistics().passes, 0);
  EXPECT_EQ(moved.view().view, 1) << "it lives on where it was moved to";
  EXPECT_TRUE(owner.group().send("x", kPatience));
}

TEST(Lifetime, ANodeThatIsMovedOverAnotherEndsThat) {
  CallbackNode first = alone();
  CallbackNode second = alone();
  ASSERT_TRUE(first.start());
  ASSERT_TRUE(second.start());
  first.node() = std::move(second.node());
  EXPECT_TRUE(first.is_gone());
  EXPECT_FALSE(second.is_gone());
  EXPECT_EQ(first.group().send("x", 1ms).error().code, ErrorCode::stopped);
  EXPECT_TRUE(second.group().send("x", kPatience));
}

TEST(Lifetime, AGroupThatOutlivesItsNodeSaysSo) {
  std::optional<Group> group;
  std::optional<Group> copy;
  {
    CallbackNode owner = alone();
    ASSERT_TRUE(owner.start());
    group = owner.group();
    copy = std::move(*group);  // leaves no empty handle
    ASSERT_TRUE(group->send("x", kPatience));
    ASSERT_TRUE(group->wait(Ticket{1}, kPatience));
  }
  for (const Error& error :
       {group->send("x", kPatience).error(), group->claim(1, kPatience).error(),
        group->wait(Ticket{2}, kPatience).error(), copy->wait_complete(kPatience).error()}) {
    EXPECT_EQ(error.code, ErrorCode::stopped);
    EXPECT_THAT(error.message, HasSubstr("node 'a' was destroyed"));
  }
  EXPECT_EQ(group->try_claim(1).outcome(), ClaimOutcome::stopped);
  EXPECT_TRUE(group->delivered(Ticket{1})) << "what was, stays";
  group->finish();
  EXPECT_EQ(group->name(), "log");
  EXPECT_EQ(group->statistics().sent_messages, 1);
}

TEST(Lifetime, WhoWaitsWhenTheNodeIsDestroyedIsTold) {
  CallbackNode owner = alone();
  ASSERT_TRUE(owner.start());
  Group group = owner.group();
  std::jthread waiter([group]() mutable {
    const Result<void> waited = group.wait(Ticket{1}, kPatience);
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().code, ErrorCode::stopped) << waited.error().message;
  });
  owner.destroy();
}

TEST(Lifetime, ClaimsThatOutliveTheirNodeAreReportedAndHarmless) {
  Claim dropped;
  Claim committed;
  std::optional<Group> group;
  {
    CallbackNode owner = alone();
    ASSERT_TRUE(owner.start());
    Claim done = owner.group().try_claim(8);
    dropped = owner.group().try_claim(8);
    committed = owner.group(1).try_claim(8);
    owner.group().commit(std::move(done));
    group = owner.group(1);
    owner.destroy();
    EXPECT_TRUE(owner.is_gone());
    EXPECT_THAT(owner.logged(), Contains(HasSubstr("group 'log' of node 'a': claims outlive the "
                                                   "node: 1;")));
    EXPECT_THAT(owner.logged(), Contains(HasSubstr("group 'other' of node 'a': claims outlive")));
  }
  dropped.data()[0] = std::byte{1};
  dropped = Claim();
  committed.data()[0] = std::byte{1};
  Claim& given = committed;
  group->commit(std::move(given));
  EXPECT_FALSE(committed);
}

TEST(Lifetime, ClaimsThatEndedInTimeAreNotReported) {
  CallbackNode owner = alone();
  ASSERT_TRUE(owner.start());
  for (int i = 0; i < 100; ++i) {
    Claim kept = owner.group().try_claim(8);
    if (i % 2 == 0 && kept) owner.group().commit(std::move(kept));
  }
  owner.destroy();
  EXPECT_THAT(owner.logged(), Not(Contains(HasSubstr("outlive"))));
}

TEST(Lifetime, ANodeThatWasNeverStartedGoesQuietly) {
  CallbackNode owner = alone();
  const Group group = owner.group();
  owner.destroy();
  EXPECT_TRUE(owner.is_gone());
  EXPECT_THAT(owner.logged(), IsEmpty());
  EXPECT_FALSE(group.complete());
}

TEST(Lifetime, AClaimThatEndsWhileTheApplicationIsToldOfItKeepsNothing) {
  Claim claim;
  std::optional<Group> group;
  CallbackNode owner(loopback_members(1), 0, 0, {}, {.in_log = [&](std::string_view text) {
                       if (text.find("outlive") == std::string_view::npos) return;
                       std::thread([&] { group->commit(std::move(claim)); }).join();
                     }});
  const std::size_t mapped = mapped_rows();
  ASSERT_TRUE(owner.start());
  EXPECT_GT(mapped_rows(), mapped);
  group = owner.group();
  claim = group->try_claim(8);
  owner.destroy();
  EXPECT_FALSE(claim);
  group.reset();
  EXPECT_EQ(mapped_rows(), mapped);
}

// A log callback that runs on a thread of the application's, in a commit to the wrong group.
struct LogOnACallersThread : ::testing::Test {
  void commit_to_another_group() {
    Group from = owner->group(0);
    Group to = owner->group(1);
    Claim claim = from.try_claim(8);
    ASSERT_TRUE(claim);
    EXPECT_EQ(to.commit(std::move(claim)), Ticket{0});
  }

  std::function<void()> in_log;
  std::optional<CallbackNode> owner{std::in_place,
                                    loopback_members(1),
                                    0,
                                    0,
                                    Threads{},
                                    Hooks{.in_log = [this](std::string_view text) {
                                      if (text.find("was committed here") != std::string_view::npos)
                                        in_log();
                                    }}};
};

TEST_F(LogOnACallersThread, IsWaitedForByWhoDestroysTheNode) {
  Gate gate;
  gate.shut();
  in_log = [&] {
    gate.pass();
    EXPECT_FALSE(owner->is_gone());
  };
  ASSERT_TRUE(owner->start());
  Group group = owner->group();
  std::thread caller([this] { commit_to_another_group(); });
  EXPECT_TRUE(until([&] { return gate.reached(); }));
  std::thread destroyer([this] { owner->destroy(); });
  EXPECT_TRUE(until([&] { return group.try_claim(1).outcome() == ClaimOutcome::stopped; }));
  for (int look = 0; look < 100 && !owner->is_gone(); ++look) std::this_thread::sleep_for(1ms);
  gate.open();
  caller.join();
  destroyer.join();
  EXPECT_TRUE(owner->is_gone());
}

TEST_F(LogOnACallersThread, MayDestroyItsNode) {
  in_log = [this] {
    owner->destroy();
    for (int look = 0; look < 100 && !owner->is_gone(); ++look) std::this_thread::sleep_for(1ms);
    EXPECT_FALSE(owner->is_gone());
  };
  ASSERT_TRUE(owner->start());
  commit_to_another_group();
  EXPECT_TRUE(until([this] { return owner->is_gone(); }));
}

}  // namespace
}  // namespace tutti
