// What a client says to a relay that offers less than the one before, or nothing.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "unit/relay/topics_that_move.hpp"

namespace tutti::client {
namespace {

class NextRelay : public TopicsThatMove {
 protected:
  void publish_numbered(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t number = from; number <= to; ++number) {
      machine_.publish("t", number, 0, std::as_bytes(std::span("bytes")));
    }
  }
  std::set<std::uint64_t> requests() {
    std::set<std::uint64_t> all;
    for (const Frame& one : take()) {
      if (const auto* const publish = std::get_if<relay::Publish>(&one)) {
        all.insert(publish->request);
      }
    }
    return all;
  }
};

// A frame that is too large would end the connection, and the next one, for ever.
TEST_F(NextRelay, TakesTheTurnOfWhatIsTooLargeForIt) {
  publish("t");
  open();
  ASSERT_TRUE(heard<relay::Publish>());
  machine_.disconnected();
  most_ = 4;
  connect({{"t", "one"}, {"u", "one"}});
  open();
  const auto again = heard<relay::Publish>();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->topic, relay::kNoNumber);
  EXPECT_TRUE(again->bytes.empty());
  machine_.receive(relay::Published{again->nonce, 1, relay::Status::unfit, 30});
  EXPECT_NE(events_.all.at(1).refused.find("a sample of 6 bytes; this relay takes at most 4"),
            std::string::npos)
      << events_.all.at(1).refused;
  machine_.publish("t", 2, 0, std::as_bytes(std::span("abc")));
  const auto next = heard<relay::Publish>();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->bytes.size(), 4U);
}

TEST_F(NextRelay, IsAskedForATopicThatWasGoneWhenItIsSubscribedTo) {
  machine_.find("t");
  const auto find = heard<relay::Find>();
  ASSERT_TRUE(find);
  machine_.receive(relay::Refused{relay::Code::unknown_topic, relay::kind_of<relay::Find>(),
                                  find->request, "no such topic"});
  machine_.subscribe(5, "t", relay::From::stored, 0, 0, 10);
  const auto again = heard<relay::Find>();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->name, "t");
  answer(*again, "one");
  const auto subscribe = heard<relay::Subscribe>();
  ASSERT_TRUE(subscribe);
  EXPECT_EQ(subscribe->subscription, 5U);
  EXPECT_TRUE(events_.ended.empty());
}

TEST_F(NextRelay, ThatStillHasNoSuchTopicEndsTheSubscription) {
  machine_.find("t");
  for (const std::uint32_t subscription : {0U, 5U}) {
    if (subscription != 0) {
      machine_.subscribe(subscription, "t", relay::From::stored, 0, 0, 10);
    }
    const auto find = heard<relay::Find>();
    ASSERT_TRUE(find);
    machine_.receive(relay::Refused{relay::Code::unknown_topic, relay::kind_of<relay::Find>(),
                                    find->request, "no such topic"});
  }
  EXPECT_EQ(events_.ended, std::vector<std::uint32_t>{5});
}

// Members know the positions of so many requests up to the last, no more.
TEST_F(NextRelay, IsSentRequestsWithinTheWindowOfTheOldestWithoutAnAnswer) {
  publish_numbered(1, 70);
  const auto opening = heard<relay::Open>();
  ASSERT_TRUE(opening);
  machine_.receive(relay::Opened{opening->topic, 20, opening->nonce, 0});
  EXPECT_EQ(requests().size(), kUnansweredMax);
  const auto answer_to = [&](std::uint64_t request) {
    machine_.receive(
        relay::Published{opening->nonce, request, relay::Status::delivered, 100 + request});
  };
  for (std::uint64_t request = 2; request <= kUnansweredMax; ++request) answer_to(request);
  EXPECT_EQ(requests(), std::set<std::uint64_t>{});
  answer_to(1);
  EXPECT_EQ(requests(), (std::set<std::uint64_t>{65, 66, 67, 68, 69, 70}));
}

TEST_F(NextRelay, ThatOpensNoSessionIsToldOfAndAskedLater) {
  publish("t");
  const auto opening = heard<relay::Open>();
  ASSERT_TRUE(opening);
  machine_.receive(relay::Refused{relay::Code::not_offered, relay::kind_of<relay::Open>(),
                                  opening->topic, "no sender"});
  EXPECT_EQ(events_.no_session, "no sender");
  EXPECT_EQ(events_.bye, "");
  publish_numbered(2, 3);
  EXPECT_FALSE(heard<relay::Open>());
  machine_.ping();
  EXPECT_TRUE(heard<relay::Open>());
}

}  // namespace
}  // namespace tutti::client
