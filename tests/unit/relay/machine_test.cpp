// What a client says where its topics change between two connections.
#include "client/machine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/pauses.hpp"
#include "unit/relay/topics_that_move.hpp"

namespace tutti::client {
namespace {

using relay::Frame;

TEST_F(TopicsThatMove, WhatWasPublishedToTheOneBeforeTakesItsTurnWithoutBytes) {
  const auto again = repeated_without_topic();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->topic, ~std::uint32_t{0});
  EXPECT_TRUE(again->bytes.empty());
  EXPECT_EQ(again->request, 1U);
  machine_.receive(relay::Published{again->nonce, 1, relay::Status::unfit, 30});
  ASSERT_TRUE(events_.all.contains(1));
  EXPECT_FALSE(events_.all.at(1).refused.empty());
  EXPECT_EQ(events_.bye, "");
}

// Through the relay before, with its bytes, although this client was told that its topic is gone.
TEST_F(TopicsThatMove, WhatWasDeliveredIsNotCalledRefusedThoughItWasRepeatedWithoutBytes) {
  const auto again = repeated_without_topic();
  ASSERT_TRUE(again && again->bytes.empty());
  machine_.receive(relay::Published{again->nonce, 1, relay::Status::delivered, 30});
  ASSERT_TRUE(events_.all.contains(1));
  EXPECT_EQ(events_.all.at(1).status, relay::Status::delivered);
  EXPECT_EQ(events_.all.at(1).refused, "");
}

TEST_F(TopicsThatMove, WhatWasPublishedIsAnsweredThoughItsBundleHasNoTopicAnyMore) {
  publish("t");
  open();
  ASSERT_TRUE(heard<relay::Publish>());
  machine_.disconnected();
  connect({{"t", "two"}, {"u", "two"}});
  EXPECT_TRUE(events_.all.contains(1));
  EXPECT_EQ(machine_.unanswered(), 0U);
}

// The relay before may still send it, with its bytes.
TEST_F(TopicsThatMove, WhatIsPublishedLaterComesBehindWhatWasGivenUp) {
  publish("t");
  open();
  const auto first = heard<relay::Publish>();
  ASSERT_TRUE(first);
  machine_.disconnected();
  connect({{"t", "two"}, {"u", "two"}});
  ASSERT_TRUE(events_.all.contains(1));
  EXPECT_EQ(events_.all.at(1).status, relay::Status::expired);
  machine_.disconnected();
  connect({{"t", "one"}, {"u", "one"}});
  machine_.publish("t", 2, 0, std::as_bytes(std::span("later")));
  const auto opening = heard<relay::Open>();
  ASSERT_TRUE(opening);
  EXPECT_EQ(opening->session, 20U);
  EXPECT_EQ(opening->nonce, first->nonce);
  machine_.receive(relay::Opened{opening->topic, 20, opening->nonce, 0});
  std::vector<std::pair<std::uint64_t, bool>> sent;  // requests; without bytes
  for (const Frame& one : take()) {
    if (const auto* const again = std::get_if<relay::Publish>(&one)) {
      sent.emplace_back(again->request, again->topic == ~std::uint32_t{0} && again->bytes.empty());
    }
  }
  EXPECT_EQ(sent, (std::vector<std::pair<std::uint64_t, bool>>{{1, true}, {2, false}}));
  machine_.receive(relay::Published{first->nonce, 1, relay::Status::delivered, 30});
  EXPECT_EQ(events_.all.at(1).status, relay::Status::expired);
  machine_.receive(relay::Published{first->nonce, 2, relay::Status::delivered, 31});
  ASSERT_TRUE(events_.all.contains(2));
  EXPECT_EQ(events_.all.at(2).position, 31U);
  EXPECT_EQ(machine_.unanswered(), 0U);
}

// Nobody is told again of it.
TEST_F(TopicsThatMove, WhatWasGivenUpEndsWithItsSession) {
  publish("t");
  open();
  ASSERT_TRUE(heard<relay::Publish>());
  machine_.disconnected();
  connect({{"t", "two"}, {"u", "two"}});
  ASSERT_EQ(events_.all.size(), 1U);
  events_.all.clear();
  machine_.disconnected();
  connect({{"t", "one"}, {"u", "two"}});
  const auto opening = heard<relay::Open>();
  ASSERT_TRUE(opening);
  machine_.receive(
      relay::Refused{relay::Code::expired, relay::kind_of<relay::Open>(), opening->topic, "none"});
  EXPECT_TRUE(events_.all.empty());
  EXPECT_TRUE(take().empty());
  publish("t");
  const auto next = heard<relay::Open>();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->session, relay::kNone);
  EXPECT_NE(next->nonce, opening->nonce);
}

// It may have taken it with its bytes or, after that topic had moved, without.
TEST_F(TopicsThatMove, WhatTookItsTurnIsNotCalledDeliveredIfItsSessionExpires) {
  publish("t");
  open();
  ASSERT_TRUE(heard<relay::Publish>());
  machine_.disconnected();
  connect({{"t", "two"}, {"u", "one"}});
  open(1);
  const auto again = heard<relay::Publish>();
  ASSERT_TRUE(again);
  expire(again->nonce);
  ASSERT_TRUE(events_.all.contains(1));
  EXPECT_EQ(events_.all.at(1).status, relay::Status::expired);
  EXPECT_EQ(machine_.unanswered(), 0U);
}

TEST_F(TopicsThatMove, WhatTookNoTurnIsPublishedInTheNextSession) {
  publish("t");
  open();
  ASSERT_TRUE(heard<relay::Publish>());
  machine_.disconnected();
  connect({{"t", "one"}, {"u", "one"}});
  open(0);
  const auto again = heard<relay::Publish>();
  ASSERT_TRUE(again);
  expire(again->nonce);
  EXPECT_FALSE(events_.all.contains(1));
  open();
  const auto anew = heard<relay::Publish>();
  ASSERT_TRUE(anew);
  EXPECT_NE(anew->nonce, again->nonce);
  EXPECT_FALSE(anew->bytes.empty());
}

// As of a relay whose member is behind: the topic is not gone.
TEST_F(TopicsThatMove, WhatWasPublishedWaitsForARelayThatDoesNotKnowItsTopicYet) {
  publish("t");
  open();
  ASSERT_TRUE(heard<relay::Publish>());
  machine_.disconnected();
  connect({{"u", "one"}});
  open();
  EXPECT_FALSE(heard<relay::Publish>());
  EXPECT_FALSE(events_.all.contains(1));
  ASSERT_TRUE(machine_.has_late());
  machine_.ask_again();
  EXPECT_FALSE(machine_.has_late());
  const auto find = heard<relay::Find>();
  ASSERT_TRUE(find);
  EXPECT_EQ(find->name, "t");
  answer(*find, "one");
  const auto again = heard<relay::Publish>();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->topic, 3U);
  EXPECT_EQ(again->request, 1U);
  EXPECT_FALSE(again->bytes.empty());
}

TEST_F(TopicsThatMove, NothingIsAskedAgainOnAnotherConnection) {
  machine_.disconnected();
  connect({{"u", "one"}});
  ASSERT_TRUE(machine_.has_late());
  machine_.disconnected();
  EXPECT_FALSE(machine_.has_late());
  connect({{"t", "one"}, {"u", "one"}});
  EXPECT_FALSE(machine_.has_late());
}

TEST_F(TopicsThatMove, WhatGoesBackWaitsForTheNumberOfItsTopic) {
  publish("t");
  open();
  const auto first = heard<relay::Publish>();
  ASSERT_TRUE(first);
  publish("u");
  machine_.find("t");
  const auto asked = heard<relay::Find>();
  ASSERT_TRUE(asked);
  machine_.receive(relay::Refused{relay::Code::not_yet, relay::kind_of<relay::Find>(),
                                  asked->request, "ask again"});
  machine_.receive(relay::GoBack{first->nonce, 2, 0});
  EXPECT_TRUE(take().empty());
  machine_.ask_again();
  const auto again = heard<relay::Find>();
  ASSERT_TRUE(again);
  answer(*again, "one");
  std::vector<std::uint64_t> requests;
  for (const Frame& one : take()) {
    if (const auto* const sent = std::get_if<relay::Publish>(&one)) {
      requests.push_back(sent->request);
    }
  }
  EXPECT_EQ(requests, (std::vector<std::uint64_t>{1, 2}));
}

// The topic came between the two questions.
TEST_F(TopicsThatMove, AnAnswerIsNotThatOfAnOlderQuestion) {
  machine_.find("came");
  const auto first = heard<relay::Find>();
  machine_.find("came");
  const auto second = heard<relay::Find>();
  ASSERT_TRUE(first && second);
  machine_.receive(relay::Refused{relay::Code::unknown_topic, relay::kind_of<relay::Find>(),
                                  first->request, "no topic"});
  EXPECT_FALSE(events_.found.contains("came"));
  answer(*second, "one");
  ASSERT_TRUE(events_.found.contains("came"));
  EXPECT_TRUE(events_.found.at("came"));
}

TEST_F(TopicsThatMove, ATopicThatIsAskedForTwiceMayBeUnknownTheFirstTime) {
  const auto refuse = [&](relay::Code code) {
    for (const Frame& one : take()) {
      if (const auto* const find = std::get_if<relay::Find>(&one)) {
        machine_.receive(
            relay::Refused{code, relay::kind_of<relay::Find>(), find->request, "refused"});
      }
    }
  };
  machine_.find("later");
  refuse(relay::Code::not_yet);
  machine_.find("later");
  machine_.find("later");
  refuse(relay::Code::unknown_topic);
  machine_.ask_again();
  EXPECT_TRUE(take().empty());
  EXPECT_FALSE(machine_.has_late());
}

TEST_F(TopicsThatMove, AListThatNobodyWaitsForIsForgotten) {
  machine_.list(1);
  machine_.list(2);
  machine_.forget_list(1);
  machine_.receive(relay::Topics{.request = 1, .last = true, .topics = {}});
  EXPECT_TRUE(events_.lists.empty());
  machine_.disconnected();
  machine_.connected();
  machine_.receive(relay::Welcome{.frame_bytes_max = 1U << 20});
  std::vector<std::uint32_t> asked;
  for (const Frame& one : take()) {
    if (const auto* const list = std::get_if<relay::List>(&one)) asked.push_back(list->request);
  }
  EXPECT_EQ(asked, std::vector<std::uint32_t>{2});
}

TEST(ClientPauses, TheNextRelayIsCalledAtOnceIfOneIsLostThatServed) {
  using std::chrono::milliseconds;
  Pauses pauses;
  EXPECT_EQ(pauses.next(milliseconds(100)), milliseconds(0));
  // Nobody answers: ever more slowly.
  EXPECT_EQ(pauses.next({}), milliseconds(20));
  EXPECT_EQ(pauses.next({}), milliseconds(40));
  for (int i = 0; i < 20; ++i) static_cast<void>(pauses.next({}));
  EXPECT_EQ(pauses.next({}), milliseconds(2000));
  // Nor are relays that welcome a client and send it away.
  EXPECT_EQ(pauses.next(milliseconds(1)), milliseconds(2000));
  EXPECT_EQ(pauses.next(milliseconds(100)), milliseconds(0));
  EXPECT_EQ(pauses.next(milliseconds(1)), milliseconds(20));
  EXPECT_EQ(pauses.next(milliseconds(1)), milliseconds(40));
}

}  // namespace
}  // namespace tutti::client
