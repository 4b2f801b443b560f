/// \file ticket_test.cpp
/// What becomes of one's own messages when the view changes under them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>

#include "cluster.hpp"

namespace tutti {
namespace {

struct TicketWay {
  FabricChoice fabric;
  Level level;
};

class Tickets : public ::testing::TestWithParam<TicketWay> {
 protected:
  static ClusterOptions options() {
    return {.fabric = GetParam().fabric, .groups = {small_group(GetParam().level)}};
  }

  // In which view a member was delivered each text.
  static std::map<std::string, std::uint64_t> views_of_texts(Journal& journal) {
    std::map<std::string, std::uint64_t> views;
    for (const Stretch& stretch : journal.stretches()) {
      for (const Told& told : stretch.messages) {
        EXPECT_TRUE(views.emplace(told.text, stretch.view.view).second) << told.text << " twice";
      }
    }
    return views;
  }
};

INSTANTIATE_TEST_SUITE_P(Of, Tickets,
                         ::testing::Values(TicketWay{FabricChoice::shm, Level::atomic},
                                           TicketWay{FabricChoice::tcp, Level::atomic},
                                           TicketWay{FabricChoice::shm, Level::agreed},
                                           TicketWay{FabricChoice::tcp, Level::agreed},
                                           TicketWay{FabricChoice::shm, Level::unordered}),
                         [](const auto& how) {
                           return std::string(to_string(how.param.fabric)) + "_" +
                                  std::string(to_string(how.param.level));
                         });

TEST_P(Tickets, TellInWhichViewAMessageWasDelivered) {
  TestCluster cluster(options());
  cluster.start();
  Group& group = cluster.group(0);
  EXPECT_EQ(group.view_of(Ticket{0}), std::nullopt);
  EXPECT_EQ(group.view_of(Ticket{1}), std::nullopt);
  const Result<Ticket> first = group.send("first", kPatience);
  ASSERT_TRUE(first);
  ASSERT_TRUE(group.wait(*first, kPatience));
  EXPECT_EQ(group.view_of(*first), 1);
  cluster.kill(2);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1}); }));
  const Result<Ticket> second = group.send("second", kPatience);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->value, 2);
  ASSERT_TRUE(group.wait(*second, kPatience));
  EXPECT_EQ(group.view_of(*second), 2);
  EXPECT_EQ(group.view_of(*first), 1) << "still";
  EXPECT_EQ(group.view_of(Ticket{3}), std::nullopt);
  expect_ok(cluster.stop());
}

// The window of a member is full, for another one is not polled; then that one dies.
TEST_P(Tickets, AreWaitedForThroughAChangeOfView) {
  for (std::size_t sender = 0; sender < 2; ++sender) {
    SCOPED_TRACE(sender);
    TestCluster cluster(options(), [](std::size_t member, NodeOptions& node) {
      if (member == 2) node.drive = Drive::caller;
    });
    cluster.start();
    Group& group = cluster.group(sender);
    std::map<std::string, Ticket> tickets;
    for (Claim claim; (claim = group.try_claim(3));) {
      const std::string text = std::to_string(100 + tickets.size());
      std::memcpy(claim.data(), text.data(), text.size());
      tickets[text] = group.commit(std::move(claim));
      if (tickets.size() == 500) break;
    }
    ASSERT_LT(tickets.size(), 500) << "the window never fills";
    const Ticket last{tickets.size()};
    const Result<void> early = group.wait(last, 1ms);
    if (GetParam().level == Level::atomic) {
      ASSERT_FALSE(early);
      EXPECT_EQ(early.error().code, ErrorCode::timed_out);
      EXPECT_EQ(group.view_of(last), std::nullopt);
    }
    std::jthread waiter([&] {
      const Result<void> waited = group.wait(last, kPatience);
      EXPECT_TRUE(waited) << waited.error().message;
    });
    cluster.kill(2);
    waiter.join();
    expect_ok(cluster.stop());
    const std::map<std::string, std::uint64_t> own = views_of_texts(cluster.journal(sender));
    const std::map<std::string, std::uint64_t> other = views_of_texts(cluster.journal(1 - sender));
    EXPECT_EQ(own.size(), tickets.size());
    EXPECT_EQ(own, other);
    for (const auto& [text, ticket] : tickets) {
      EXPECT_TRUE(group.delivered(ticket));
      EXPECT_EQ(group.view_of(ticket), own.at(text)) << text;
    }
  }
}

TEST_P(Tickets, OfAllViewsAgreeWithWhatWasDelivered) {
  TestCluster cluster(options());
  cluster.start();
  cluster.talk({0, 2});
  std::vector<std::string> texts;
  const auto send_some = [&] {
    for (int i = 0; i < 200; ++i) {
      texts.push_back("own " + std::to_string(texts.size()));
      const Result<Ticket> sent = cluster.group(1).send(texts.back(), kPatience);
      ASSERT_TRUE(sent) << sent.error().message;
      ASSERT_EQ(sent->value, texts.size());
    }
  };
  for (const std::size_t victim : {2U, 0U, 2U}) {
    send_some();
    cluster.kill(victim);
    send_some();
    cluster.renew(victim);
    cluster.start({victim});
    cluster.talk(victim);
  }
  send_some();
  expect_ok(cluster.stop());
  const std::map<std::string, std::uint64_t> views = views_of_texts(cluster.journal(1));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(cluster.group(1).view_of(Ticket{i + 1}), views.at(texts[i])) << texts[i];
  }
  EXPECT_EQ(views.at(texts.back()), cluster.node(1).view().view);
}

TEST_P(Tickets, OfWhoWasCutOffEndWithAnError) {
  ClusterOptions how = options();
  TestCluster cluster(how, [](std::size_t member, NodeOptions& node) {
    if (member != 0) node.drive = Drive::caller;
  });
  cluster.start();
  const Result<Ticket> sent = cluster.group(0).send("x", kPatience);
  ASSERT_TRUE(sent);
  std::jthread waiter([&] {
    const Result<void> waited = cluster.group(0).wait(Ticket{2}, kPatience);
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().code, ErrorCode::peer_lost);
  });
  cluster.kill(1);
  cluster.kill(2);
}

}  // namespace
}  // namespace tutti
