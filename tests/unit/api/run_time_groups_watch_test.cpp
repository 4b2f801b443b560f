/// \file run_time_groups_watch_test.cpp
/// A person is told of handlers that take long also where their group was joined after the start.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "gate.hpp"
#include "heard.hpp"

namespace tutti {
namespace {

class SlowHandlers : public ::testing::TestWithParam<Drive> {
 protected:
  ~SlowHandlers() override { gate_.open(); }

  void SetUp() override {
    ClusterOptions with = with_places(1, 2);
    with.drive = GetParam();
    cluster_.emplace(with, [this](std::size_t, NodeOptions& options) {
      options.slow_after = 10ms;
      options.log = book_.callback();
    });
    cluster_->start();
    gate_.shut();
  }
  void expect_told_of(const std::string& group) {
    const std::string handler = "a completion handler of group '" + group + "' ";
    EXPECT_TRUE(told(handler + "has been running for"));
    gate_.open();
    EXPECT_TRUE(told(handler + "is over: it ran for"));
  }
  // With Drive::caller, somebody must poll.
  bool told(const std::string& text) {
    return until([&] {
      cluster_->node(0).poll();
      return book_.with(text) != 0;
    });
  }

  LogBook book_;
  Gate gate_;
  std::optional<TestCluster> cluster_;
};

INSTANTIATE_TEST_SUITE_P(Drive, SlowHandlers, ::testing::Values(Drive::own_thread, Drive::caller),
                         [](const auto& drive) {
                           return drive.param == Drive::caller ? "caller" : "own_thread";
                         });

TEST_P(SlowHandlers, OfOnDeliveredAreNamed) {
  Heard heard;
  Group group = joined(*cluster_, 0, heard.group("x"));
  const Result<Ticket> ticket = group.send("one", kPatience);
  ASSERT_TRUE(ticket);
  ASSERT_TRUE(group.on_delivered(*ticket, [this](Result<void>) { gate_.pass(); }));
  expect_told_of("x");
  expect_ok(cluster_->stop());
}

TEST_P(SlowHandlers, OfOnSpaceAreNamedAfterAnotherGroupWasLeft) {
  Heard heard;
  Group before = joined(*cluster_, 0, heard.group("x"));
  leave(before);
  Group group = joined(*cluster_, 0, heard.group("y"));
  ASSERT_TRUE(group.on_space(1, [this](Result<Claim>) { gate_.pass(); }));
  expect_told_of("y");
  leave(group);
  expect_ok(cluster_->stop());
}

// It is told that the group is over, which nobody waits for.
TEST_P(SlowHandlers, OfAGroupThatIsLeftAreNamedUntilTheyReturn) {
  Heard heard;
  Group group = joined(*cluster_, 0, heard.group("x"));
  std::vector<Claim> claims;
  for (Claim claim = group.try_claim(200); claim; claim = group.try_claim(200)) {
    claims.push_back(std::move(claim));
  }
  ASSERT_TRUE(group.on_space(200, [this](Result<Claim>) { gate_.pass(); }));
  EXPECT_FALSE(group.leave(0s)) << "claims are open";
  claims.clear();
  leave(group);
  expect_told_of("x");
  expect_ok(cluster_->stop());
}

}  // namespace
}  // namespace tutti
