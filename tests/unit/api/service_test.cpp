/// \file service_test.cpp
/// Agreed and safe messages in one stream: each sender says of a message which it is to be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"

namespace tutti {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

GroupOptions ring_group(Level level = Level::agreed) {
  GroupOptions group = small_group(level);
  group.order = Order::token_ring;
  return group;
}

// Member 2 is polled by the test: without it the token does not go round. Where the token rests
// after a message depends on the threads; it must not be member 2, which could not hand it over.
TEST(Service, ASafeMessageWaitsForAllMembersAndHoldsUpWhatComesAfterIt) {
  TestCluster cluster({.groups = {ring_group()}}, [](std::size_t member, NodeOptions& node) {
    if (member == 2) node.drive = Drive::caller;
  });
  cluster.start();
  Group& group = cluster.group(0);
  const auto poll_until = [&](const std::function<bool()>& holds) {
    return until([&] {
      static_cast<void>(cluster.node(2).poll());
      return holds();
    });
  };
  const auto rests = [&](std::size_t member) {
    return cluster.group(member).statistics().token_rests;
  };
  std::size_t probes = 0;
  for (bool within_reach = false; !within_reach;) {
    const std::uint64_t near = rests(0) + rests(1);
    const std::uint64_t far = rests(2);
    ASSERT_TRUE(group.send("probe", kPatience));
    ++probes;
    ASSERT_TRUE(poll_until([&] {
      return cluster.deliveries(0).size() == probes && cluster.deliveries(1).size() == probes &&
             cluster.deliveries(2).size() == probes && rests(0) + rests(1) + rests(2) > near + far;
    }));
    within_reach = rests(0) + rests(1) > near;
  }
  const Result<Ticket> safe = group.send("safe", kPatience, Service::safe);
  const Result<Ticket> agreed = group.send("agreed", kPatience);
  ASSERT_TRUE(safe && agreed);
  const Result<void> early = group.wait(*safe, 50ms);
  ASSERT_FALSE(early) << "a member has not had the token since";
  EXPECT_EQ(early.error().code, ErrorCode::timed_out);
  EXPECT_FALSE(group.delivered(*agreed)) << "it comes after the other one";
  ASSERT_TRUE(poll_until([&] { return group.delivered(*agreed); }));
  EXPECT_TRUE(group.delivered(*safe));
  ASSERT_TRUE(poll_until([&] {
    return cluster.deliveries(0).size() == probes + 2 &&
           cluster.deliveries(1).size() == probes + 2 && cluster.deliveries(2).size() == probes + 2;
  }));
  const Deliveries all = cluster.deliveries(0);
  EXPECT_THAT(all[probes], EndsWith("safe"));
  EXPECT_THAT(all[probes + 1], EndsWith("agreed"));
  EXPECT_EQ(cluster.deliveries(1), cluster.deliveries(0));
  EXPECT_EQ(cluster.deliveries(2), cluster.deliveries(0));
  std::jthread polls([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(cluster.node(2).poll());
  });
  cluster.kill(0);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({1, 2}); })) << "and it changes views";
}

struct Mixed {
  FabricChoice fabric;
  DeliveryThread delivery;
};
class MixedStream : public ::testing::TestWithParam<Mixed> {};

TEST_P(MixedStream, IsTheSameAtAllMembersAlsoWhenOneDies) {
  GroupOptions group = ring_group();
  group.delivery = GetParam().delivery;
  TestCluster cluster({.fabric = GetParam().fabric, .groups = {group}});
  cluster.start();
  std::vector<std::jthread> senders;
  for (const std::size_t member : {0U, 1U}) {
    senders.emplace_back([&cluster, member] {
      for (int n = 0; n < 300; ++n) {
        const Service service = n % 3 == 0 ? Service::safe : Service::of_level;
        const Result<Ticket> sent =
            cluster.group(member).send(std::to_string(n), kPatience, service);
        ASSERT_TRUE(sent) << sent.error().message;
        if (n == 150 && member == 0) cluster.kill(2);
      }
    });
  }
  senders.clear();
  for (const std::size_t member : {0U, 1U}) {
    ASSERT_TRUE(until([&] { return cluster.deliveries(member).size() == 600; })) << member;
  }
  EXPECT_EQ(cluster.deliveries(0), cluster.deliveries(1));
  expect_ok(cluster.stop());
}

INSTANTIATE_TEST_SUITE_P(Over, MixedStream,
                         ::testing::Values(Mixed{FabricChoice::shm, DeliveryThread::predicate},
                                           Mixed{FabricChoice::shm, DeliveryThread::own},
                                           Mixed{FabricChoice::tcp, DeliveryThread::predicate}),
                         [](const auto& how) {
                           return std::string(to_string(how.param.fabric)) +
                                  (how.param.delivery == DeliveryThread::own ? "_own" : "");
                         });

// At atomic every message is safe; elsewhere the error says what to change.
TEST(Service, IsRefusedWhereTheOrderDoesNotOfferIt) {
  LogBook log;
  GroupOptions other = small_group(Level::agreed);
  other.name = "other";
  TestCluster cluster({.members = 2, .groups = {ring_group(Level::atomic), other}},
                      [&](std::size_t, NodeOptions& node) { node.log = log.callback(); });
  cluster.start();
  const Result<Ticket> atomic = cluster.group(0, 0).send("x", kPatience, Service::safe);
  ASSERT_TRUE(atomic) << atomic.error().message;
  EXPECT_TRUE(cluster.group(0, 0).wait(*atomic, kPatience));

  Group& refuses = cluster.group(0, 1);
  const auto build = [](std::span<std::byte>) { FAIL() << "there is nothing to build"; };
  for (const Result<Ticket>& sent : {refuses.send("x", kPatience, Service::safe),
                                     refuses.send(1, build, kPatience, Service::safe)}) {
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(sent.error().message, HasSubstr("group 'other'"));
    EXPECT_THAT(sent.error().message, HasSubstr("round_robin"));
    EXPECT_THAT(sent.error().message, HasSubstr("Order::token_ring"));
  }
  EXPECT_EQ(refuses.commit(refuses.try_claim(8), Service::safe), Ticket{0});
  EXPECT_EQ(refuses.commit(Claim(), Service::safe), Ticket{0});
  EXPECT_TRUE(until([&] { return log.with("a service that the group does not offer") == 1; }));
  const Result<Ticket> plain = refuses.send("x", kPatience);
  ASSERT_TRUE(plain);
  EXPECT_TRUE(refuses.wait(*plain, kPatience)) << "the claim that was given up holds up nothing";
  expect_ok(cluster.stop());
}

TEST(TokenStatistics, SayHowLongTheTokenRestsAndIsHeld) {
  TestCluster cluster({.groups = {ring_group()}});
  cluster.start();
  const auto sum = [&](std::uint64_t GroupStatistics::* field) {
    std::uint64_t all = 0;
    for (std::size_t m = 0; m < 3; ++m) all += cluster.group(m).statistics().*field;
    return all;
  };
  const std::uint64_t parked = sum(&GroupStatistics::token_parked_ns);
  EXPECT_TRUE(until([&] { return sum(&GroupStatistics::token_parked_ns) > parked; }))
      << "it counts while the token rests";
  const Result<Ticket> sent = cluster.group(1).send("m", kPatience);
  ASSERT_TRUE(sent);
  ASSERT_TRUE(cluster.group(1).wait(*sent, kPatience));
  EXPECT_GT(sum(&GroupStatistics::token_visits), 0);
  EXPECT_GT(sum(&GroupStatistics::token_held_ns), 0);
}

TEST(TokenStatistics, GoOnOverAChangeOfView) {
  TestCluster cluster({.groups = {ring_group()}});
  cluster.start();
  const auto parked = [&](std::size_t member) {
    return cluster.group(member).statistics().token_parked_ns;
  };
  ASSERT_TRUE(until([&] { return parked(0) > 0; })) << "the first rest of a view is at rank 0";
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  const Result<Ticket> sent = cluster.group(1).send("m", kPatience);
  ASSERT_TRUE(sent);
  ASSERT_TRUE(cluster.group(1).wait(*sent, kPatience));
  constexpr std::uint64_t kAnHour = 3'600'000'000'000;
  EXPECT_LT(parked(0), kAnHour);
  EXPECT_LT(parked(1), kAnHour);
}

TEST(ChainStatistics, SayHowMuchIsPending) {
  GroupOptions group = small_group(Level::atomic);
  group.order = Order::lcr;
  TestCluster cluster({.groups = {group}});
  cluster.start();
  const Result<Ticket> sent = cluster.group(1).send("m", kPatience);
  ASSERT_TRUE(sent);
  ASSERT_TRUE(cluster.group(1).wait(*sent, kPatience));
  const BatchHistogram pending = cluster.group(1).statistics().pending;
  EXPECT_GT(pending.batches, 0);
  EXPECT_GT(pending.items, 0);
}

}  // namespace
}  // namespace tutti
