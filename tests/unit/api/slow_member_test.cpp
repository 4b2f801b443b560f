/// \file slow_member_test.cpp
/// Who is slow is named: to its own application, and to the others, by warnings and by figures.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "cluster.hpp"
#include "gate.hpp"

namespace tutti {
namespace {

class SlowMember : public ::testing::TestWithParam<DeliveryThread> {
 protected:
  void SetUp() override {
    cluster_.emplace(ClusterOptions{.groups = {small_group(Level::atomic, GetParam())}},
                     [this](std::size_t member, NodeOptions& options) {
                       options.slow_after = 1s;
                       options.log = books_[member].callback();
                     });
    cluster_->life(2).in_delivery = [this] { gate_.pass(); };
    cluster_->start();
    gate_.shut();
    cluster_->talk({0, 1});
    ASSERT_TRUE(until([&] { return gate_.reached(); }));
  }
  void TearDown() override {
    gate_.open();
    for (const Result<void>& stopped : cluster_->stop()) {
      EXPECT_TRUE(stopped) << stopped.error().message;
    }
    cluster_->expect_one_story();
  }

  std::array<LogBook, 3> books_;
  Gate gate_;
  std::optional<TestCluster> cluster_;
};

INSTANTIATE_TEST_SUITE_P(On, SlowMember,
                         ::testing::Values(DeliveryThread::predicate, DeliveryThread::own),
                         [](const auto& thread) {
                           return thread.param == DeliveryThread::own ? "own" : "predicate";
                         });

TEST_P(SlowMember, IsToldWhichOfItsCallbacksTakesLong) {
  const std::string callback = "the delivery callback of group 'log' ";
  ASSERT_TRUE(until([&] { return books_[2].with(callback + "has been running for") != 0; }));
  EXPECT_EQ(books_[2].with("is over"), 0U);
  gate_.open();
  ASSERT_TRUE(until([&] { return books_[2].with(callback + "is over: it ran for") != 0; }));
  EXPECT_EQ(books_[0].with("callback"), 0U);
}

TEST_P(SlowMember, IsNamedToTheOthersAndIsWhenItHasCaughtUp) {
  for (const std::size_t other : {0U, 1U}) {
    ASSERT_TRUE(until(
        [&] { return books_[other].with("member 'c' holds the window of group 'log': ") != 0; }));
    EXPECT_EQ(books_[other].with("caught up"), 0U);
  }
  gate_.open();
  for (const std::size_t other : {0U, 1U}) {
    ASSERT_TRUE(
        until([&] { return books_[other].with("member 'c' has caught up in group 'log'") != 0; }));
    EXPECT_EQ(books_[other].with("member 'a'") + books_[other].with("member 'b'"), 0U);
  }
}

TEST_P(SlowMember, IsSeenInTheFiguresOfAll) {
  const auto lag = [&](std::size_t at, std::size_t of) {
    const std::vector<MemberLag> lags = cluster_->group(at).lags();
    return of < lags.size() ? lags[of] : MemberLag{};
  };
  ASSERT_TRUE(until([&] {
    return lag(0, 2).holds_window && lag(0, 2).behind > 200ms && !lag(0, 1).holds_window;
  }));
  // The window has 64 messages of each; what was sent before the last point in time is a guess.
  EXPECT_GT(lag(0, 2).messages, 0U);
  EXPECT_LE(lag(0, 2).messages, 128U);
  EXPECT_GT(lag(0, 2).bytes, 0U);
  EXPECT_EQ(lag(0, 2).member, "c");
  ASSERT_TRUE(until([&] { return lag(2, 2).messages > 0 && lag(2, 2).behind > 200ms; }));
  gate_.open();
  ASSERT_TRUE(until([&] { return !lag(0, 2).holds_window && lag(0, 2).behind < 100ms; }));
}

class RemoveAfter : public ::testing::TestWithParam<DeliveryThread> {};

INSTANTIATE_TEST_SUITE_P(On, RemoveAfter,
                         ::testing::Values(DeliveryThread::predicate, DeliveryThread::own),
                         [](const auto& thread) {
                           return thread.param == DeliveryThread::own ? "own" : "predicate";
                         });

TEST_P(RemoveAfter, IsTheEndOfWhoTakesNothingAndItIsToldWhy) {
  std::array<LogBook, 3> books;
  TestCluster cluster({.groups = {small_group(Level::atomic, GetParam())}, .suspect_after = 5s},
                      [&](std::size_t member, NodeOptions& options) {
                        options.remove_after = 6s;
                        options.log = books[member].callback();
                      });
  Gate gate;
  cluster.life(2).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  cluster.talk({0, 1});
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  ASSERT_TRUE(until([&] { return cluster.node(2).failure().has_value(); }));
  EXPECT_NE(cluster.node(2).failure()->message.find("it has delivered nothing of group 'log' for"),
            std::string::npos)
      << cluster.node(2).failure()->message;
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  const std::string removed =
      "member 'c' is to be removed: it has delivered nothing of group 'log'";
  EXPECT_TRUE(until([&] { return books[0].with(removed) + books[1].with(removed) != 0; }));
  ASSERT_TRUE(cluster.hear_more({0, 1}));
  gate.open();
  const std::vector<Result<void>> stopped = cluster.stop();
  EXPECT_TRUE(stopped[0] && stopped[1]);
  // What c reads after its removal need not be what was sent: Group::intact().
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(1));
}

// By its own figures it is not late enough, so it cannot tell for which of the two it was removed.
TEST(RemovedForLess, ThanItWouldRemoveOthersForItNamesBothReasons) {
  TestCluster cluster({.groups = {small_group()}, .suspect_after = 5s},
                      [&](std::size_t member, NodeOptions& options) {
                        options.remove_after = member == 2 ? 3600s : 6s;
                      });
  Gate gate;
  cluster.life(2).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  cluster.talk({0, 1});
  ASSERT_TRUE(until([&] { return gate.reached(); }));
  ASSERT_TRUE(until([&] { return cluster.node(2).failure().has_value(); }));
  gate.open();
  EXPECT_NE(cluster.node(2).failure()->message.find(
                ": they could not reach this one for too long, or it did not take its messages "
                "within remove_after (here 3600.000 s); "),
            std::string::npos)
      << cluster.node(2).failure()->message;
  const std::vector<Result<void>> stopped = cluster.stop();
  EXPECT_TRUE(stopped[0] && stopped[1]);
}

// V6. As when a machine, or a container with all members, is stopped for longer than remove_after.
TEST(PausesOfItsOwn, AreNotHeldAgainstASlowMember) {
  constexpr std::chrono::nanoseconds kLimit = 2s;
  std::array<LogBook, 2> books;
  TestCluster cluster({.members = 2,
                       .drive = Drive::caller,
                       .groups = {small_group(Level::atomic, DeliveryThread::own)},
                       .suspect_after = 1s},
                      [&](std::size_t member, NodeOptions& options) {
                        options.slow_after = kLimit;
                        options.remove_after = kLimit;
                        options.log = books[member].callback();
                      });
  Gate gate;
  cluster.life(1).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  ASSERT_TRUE(cluster.group(0).send("x", kPatience));
  const auto polling_until = [&](const std::function<bool()>& holds) {
    return until([&] {
      for (const std::size_t member : {0U, 1U}) cluster.node(member).poll();
      return holds();
    });
  };
  const auto lacks = [&] {
    const std::vector<MemberLag> lags = cluster.group(0).lags();
    return lags.size() == 2 && lags[1].messages != 0;
  };
  ASSERT_TRUE(polling_until([&] { return gate.reached() && lacks(); }));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(until([&] { return std::chrono::steady_clock::now() - begin > kLimit; }));
  cluster.node(0).poll();
  gate.open();
  ASSERT_EQ(books[0].with("is to be removed"), 0U);
  EXPECT_TRUE(polling_until([&] { return !lacks(); }));
  EXPECT_EQ(books[0].with("member 'b'"), 0U);
  EXPECT_TRUE(cluster.are_in_view_of({0, 1}));
  expect_ok(cluster.stop());
}

// A callback that has still to return keeps it at work: it answers the others.
TEST(NodesThatFailed, NameNobodyAsBehind) {
  std::array<LogBook, 3> books;
  GroupOptions other = small_group(Level::atomic, DeliveryThread::own);
  other.name = "other";
  TestCluster cluster({.groups = {small_group(Level::atomic, DeliveryThread::own), other},
                       .adjust_group =
                           [](std::size_t member, GroupOptions& group) {
                             if (member != 1 || group.name != "other") return;
                             group.on_delivery = [](std::span<const Message>) {
                               throw std::runtime_error("no more paper");
                             };
                           }},
                      [&](std::size_t member, NodeOptions& options) {
                        options.slow_after = 500ms;
                        options.log = books[member].callback();
                      });
  std::array<Gate, 3> gates;
  for (const std::size_t member : {1U, 2U}) {
    cluster.life(member).in_delivery = [&gate = gates[member]] { gate.pass(); };
  }
  cluster.start();
  gates[2].shut();
  ASSERT_TRUE(cluster.group(0).send("x", kPatience));
  ASSERT_TRUE(until([&] { return gates[2].reached() && cluster.journal(1).messages() == 1; }));
  gates[1].shut();
  ASSERT_TRUE(cluster.group(0).send("y", kPatience));
  ASSERT_TRUE(until([&] { return gates[1].reached(); }));
  ASSERT_TRUE(cluster.group(0, 1).send("z", kPatience));
  ASSERT_TRUE(until([&] { return cluster.node(1).failure().has_value(); }));
  const std::string slow = "member 'c' is behind in group 'log'";
  const auto told = [&](std::size_t at) { return books[at].with(slow); };
  // Lines keep their order: what it said before its failure is in the book.
  ASSERT_TRUE(until([&] { return books[1].with(cluster.node(1).failure()->message) != 0; }));
  const std::size_t told_before = told(1);
  const std::size_t enough = told(0) + 2;  // told again whenever the time has doubled
  EXPECT_TRUE(until([&] { return told(0) >= enough; }));
  EXPECT_EQ(told(1), told_before);
  for (Gate& gate : gates) gate.open();
  const std::vector<Result<void>> stopped = cluster.stop();
  EXPECT_TRUE(stopped[0] && stopped[2]);
}

TEST(LatePolls, AreNamed) {
  LogBook book;
  TestCluster cluster({.members = 1, .drive = Drive::caller, .suspect_after = 100ms},
                      [&](std::size_t, NodeOptions& options) { options.log = book.callback(); });
  cluster.start();
  cluster.node(0).poll();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(until([&] { return std::chrono::steady_clock::now() - begin > 100ms; }));
  cluster.node(0).poll();
  EXPECT_TRUE(cluster.node(0).stop(kPatience));
  cluster.kill(0);  // what was said is written
  EXPECT_EQ(book.with("s after the pass before it; suspect_after is 0.100 s"), 1U);
}

// It runs beside poll, not in it.
TEST(SlowCallbacks, OnThreadsOfTheirOwnAreNamedByPoll) {
  LogBook book;
  Gate gate;
  TestCluster cluster({.members = 1,
                       .drive = Drive::caller,
                       .groups = {small_group(Level::atomic, DeliveryThread::own)}},
                      [&](std::size_t, NodeOptions& options) {
                        options.slow_after = 10ms;
                        options.log = book.callback();
                      });
  cluster.life(0).in_delivery = [&] { gate.pass(); };
  cluster.start();
  gate.shut();
  ASSERT_TRUE(cluster.group(0).send("x", kPatience));
  const auto polling_until = [&](const std::string& said) {
    return until([&] {
      cluster.node(0).poll();
      return book.with("the delivery callback of group 'log' " + said) != 0;
    });
  };
  EXPECT_TRUE(polling_until("has been running for"));
  gate.open();
  EXPECT_TRUE(polling_until("is over: it ran for"));
  EXPECT_TRUE(cluster.node(0).stop(kPatience));
}

}  // namespace
}  // namespace tutti
