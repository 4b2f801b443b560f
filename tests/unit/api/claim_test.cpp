/// \file claim_test.cpp
/// What a sender gets that has to wait for space, and what becomes of a claim in wrong hands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster.hpp"
#include "gate.hpp"
#include "support/effort.hpp"

namespace tutti {
namespace {

// Space that comes just as the sender goes to sleep is claimed once, not a second time.
TEST(Claim, ThatHadToWaitTakesTheNextTicket) {
  TestCluster cluster(
      {.members = 2,
       .idle = {.spin = 0ns, .yield = 0ns},
       .groups = {{.name = "log", .window_messages = 2, .on_delivery = [](const auto&) {}}}});
  cluster.start();
  const testing::Effort effort;
  for (std::uint64_t n = 1; n <= 100'000 && !effort.spent(); ++n) {
    const Result<Ticket> ticket = cluster.group(0).send("x", kPatience);
    ASSERT_TRUE(ticket) << ticket.error().message;
    ASSERT_EQ(ticket->value, n);
  }
  for (const Result<void>& stopped : cluster.stop()) {
    EXPECT_TRUE(stopped) << stopped.error().message;
  }
}

// The claim is given up; both groups go on as if there had been none.
TEST(Claim, OfAnotherGroupIsRefusedWithoutHarm) {
  LogBook log;
  GroupOptions other = small_group();
  other.name = "other";
  TestCluster cluster({.members = 2, .groups = {small_group(), other}},
                      [&](std::size_t, NodeOptions& node) { node.log = log.callback(); });
  cluster.start();
  Claim claim = cluster.group(0, 0).try_claim(8);
  ASSERT_TRUE(claim);
  Claim& given = claim;
  const Ticket none = cluster.group(0, 1).commit(std::move(given));
  EXPECT_EQ(none, Ticket{0});
  EXPECT_FALSE(claim);
  EXPECT_FALSE(cluster.group(0, 1).delivered(none)) << "it names no message";
  EXPECT_EQ(cluster.group(0, 1).wait(none, kPatience).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(until(
      [&] { return log.with("group 'other': a claim on group 'log' was committed here") == 1; }));
  // Another node's group of the same name is another group, too.
  EXPECT_EQ(cluster.group(0, 0).commit(cluster.group(1, 0).try_claim(8)), Ticket{0});
  EXPECT_EQ(cluster.group(0, 0).commit(Claim()), Ticket{0}) << "nothing was claimed";
  for (const std::size_t group : {0U, 1U}) {
    for (const std::size_t member : {0U, 1U}) {
      const Result<Ticket> sent = cluster.group(member, group).send("x", kPatience);
      ASSERT_TRUE(sent) << sent.error().message;
      const Result<void> waited = cluster.group(member, group).wait(*sent, kPatience);
      EXPECT_TRUE(waited) << waited.error().message;
    }
  }
  for (const Result<void>& stopped : cluster.stop()) {
    EXPECT_TRUE(stopped) << stopped.error().message;
  }
  for (const std::size_t group : {0U, 1U}) {
    EXPECT_EQ(cluster.deliveries(0, group).size(), 2) << "no phantom in group " << group;
    EXPECT_EQ(cluster.deliveries(1, group).size(), 2);
  }
}

}  // namespace
}  // namespace tutti
