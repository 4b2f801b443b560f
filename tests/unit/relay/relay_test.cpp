// Relays on TCP with the C++ client, over members that a test controls.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>

#include "relay/server.hpp"
#include "support/loopback.hpp"
#include "tutti/client.hpp"
#include "unit/relay/fake_group.hpp"

namespace tutti::relay::testing {
namespace {

using namespace std::chrono_literals;
using client::Client;
using client::Published;
using client::Received;
using Outcome = Published::Outcome;

constexpr auto kLong = 30s;

struct OneRelay {
  explicit OneRelay(FakeGroup& group, const std::string& name, dds::RelayOptions options = {},
                    bool is_sender = true)
      : backend(group.member(name, is_sender)) {
    if (options.listen.empty()) options.listen = "127.0.0.1:0";
    auto started = Server::start(*backend, options);
    EXPECT_TRUE(started) << started.error().message;
    if (started) server = std::move(*started);
  }
  [[nodiscard]] const std::string& address() const { return server->address(); }
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Server> server;
};

Client connected(std::vector<std::string> relays, const std::string& topic = "a") {
  auto made = Client::create({.relays = std::move(relays), .name = "test"});
  EXPECT_TRUE(made) << made.error().message;
  const auto found = made->topic(topic, kLong);
  EXPECT_TRUE(found) << found.error().message;
  return std::move(*made);
}

std::string text_of(const Result<Received>& received) {
  if (!received) return received.error().message;
  if (const auto* const sample = std::get_if<client::Sample>(&*received)) {
    return std::string(sample->text());
  }
  return std::holds_alternative<client::Gap>(*received) ? "gap" : "ended";
}

// Counts the outcomes of what was published without waiting.
class Outcomes {
 public:
  Client::Answered counter() {
    return [this](const Published& one) {
      const std::scoped_lock lock(mutex_);
      delivered_ += one.outcome == Outcome::delivered ? 1 : 0;
      ++all_;
      changed_.notify_all();
    };
  }
  bool wait_for(std::size_t all) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, [&] { return all_ >= all; });
  }
  std::size_t delivered() {
    const std::scoped_lock lock(mutex_);
    return delivered_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t delivered_ = 0;
  std::size_t all_ = 0;
};

TEST(Relay, CarriesSamplesBetweenClientsOfTwoRelays) {
  FakeGroup group({"a", "b"}, Service::stored);
  const OneRelay one(group, "m1");
  const OneRelay other(group, "m2");
  Client writer = connected({one.address()});
  Client reader = connected({other.address()});
  auto subscription = reader.subscribe("a", {.from = client::SubscribeOptions::From::stored});
  ASSERT_TRUE(subscription);
  for (int i = 0; i < 1000; ++i) {
    const auto published = writer.publish("a", std::to_string(i), kLong);
    ASSERT_TRUE(published) << published.error().message;
    ASSERT_EQ(published->outcome, Outcome::delivered);
    ASSERT_EQ(text_of(subscription->take(kLong)), std::to_string(i));
  }
  const auto topics = reader.topics(kLong);
  ASSERT_TRUE(topics);
  ASSERT_EQ(topics->size(), 2U);
  EXPECT_EQ(topics->back().name, "b");
  EXPECT_EQ(topics->back().type, "text");
}

TEST(Relay, ATopicThatIsNotThereIsRefused) {
  FakeGroup group({"a"}, Service::stored);
  const OneRelay one(group, "m1");
  Client writer = connected({one.address()});
  const auto found = writer.topic("nothing", kLong);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::refused);
  const auto published = writer.publish("nothing", "x", kLong);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(writer.subscribe("nothing"));
}

TEST(Relay, AClientAsksAgainForWhatTheMemberDoesNotKnowYet) {
  FakeGroup group({"a"}, Service::stored);
  const OneRelay one(group, "m1");
  group.know_later(3);
  const Client client = connected({one.address()});
  EXPECT_TRUE(client.is_connected());
}

// The client is at a relay that takes nothing, as its member is no sender, once the other one dies.
TEST(Relay, ThatTakesNothingIsLeftForOneThatDoes) {
  for (const Service service : {Service::stored, Service::unordered}) {
    FakeGroup group({"a"}, service);
    const std::string address = loopback_members(1)[0].address;
    const dds::RelayOptions options{.listen = address};
    std::optional<OneRelay> takes(std::in_place, group, "m1", options);
    const OneRelay other(group, "m2", {}, false);
    Client client = connected({address, other.address()});
    auto subscription = client.subscribe("a");
    ASSERT_TRUE(subscription);
    takes.reset();
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (other.server->statistics().clients == 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::yield();
    }
    takes.emplace(group, "m1", options);
    const Outcome wanted = service == Service::stored ? Outcome::delivered : Outcome::sent;
    for (bool done = false; !done;) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      const auto published = client.publish("a", "x", kLong);
      ASSERT_TRUE(published) << published.error().message;
      done = published->outcome == wanted;
      if (service == Service::stored) {
        EXPECT_TRUE(done) << published->text;
      }
    }
    EXPECT_EQ(text_of(subscription->take(kLong)), "x");
  }
}

// The first relay dies with samples that nobody has delivered, and after others that it could not
// answer: the second one gets all that were not answered.
TEST(Relay, WhatARelayTookWithItIsDeliveredOnceThroughAnother) {
  FakeGroup group({"a"}, Service::stored);
  std::optional<OneRelay> one(std::in_place, group, "m1");
  const OneRelay other(group, "m2");
  Client writer = connected({one->address(), other.address()});
  ASSERT_TRUE(writer.publish("a", "0", kLong));
  Outcomes outcomes;
  const auto publish = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string text = std::to_string(i);
      ASSERT_TRUE(writer.publish("a", std::as_bytes(std::span(text)), outcomes.counter()));
    }
  };
  publish(1, 20);
  ASSERT_TRUE(outcomes.wait_for(19));
  group.hold(true);
  publish(20, 200);
  while (group.waiting() < 20) std::this_thread::yield();
  one.reset();
  group.lose_what_waits();
  group.hold(false);
  ASSERT_TRUE(outcomes.wait_for(199));
  EXPECT_EQ(outcomes.delivered(), 199U);
  const auto delivered = group.delivered();
  ASSERT_EQ(delivered.size(), 200U);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(delivered[i].text(), std::to_string(i));
}

TEST(Relay, ASubscriptionGoesOnAtAnotherRelay) {
  FakeGroup group({"a"}, Service::stored);
  std::optional<OneRelay> one(std::in_place, group, "m1");
  const OneRelay other(group, "m2");
  Client writer = connected({other.address()});
  Client reader = connected({one->address(), other.address()});
  auto subscription =
      reader.subscribe("a", {.from = client::SubscribeOptions::From::stored, .window = 8});
  ASSERT_TRUE(subscription);
  for (int i = 0; i < 300; ++i) {
    if (i == 100) one.reset();
    ASSERT_TRUE(writer.publish("a", std::to_string(i), kLong));
    if (i % 3 == 2) {
      for (int k = i - 2; k <= i; ++k) {
        ASSERT_EQ(text_of(subscription->take(kLong)), std::to_string(k));
      }
    }
  }
}

TEST(Relay, ASlowSubscriberHearsOfTheGap) {
  FakeGroup group({"a"}, Service::stored, 10);
  const OneRelay one(group, "m1");
  Client writer = connected({one.address()});
  auto subscription =
      writer.subscribe("a", {.from = client::SubscribeOptions::From::stored, .window = 2});
  ASSERT_TRUE(subscription);
  ASSERT_TRUE(writer.publish("a", "0", kLong));
  ASSERT_EQ(text_of(subscription->take(kLong)), "0");
  for (int i = 1; i < 100; ++i) ASSERT_TRUE(writer.publish("a", std::to_string(i), kLong));
  std::vector<std::string> texts;
  while (texts.empty() || texts.back() != "99") texts.push_back(text_of(subscription->take(kLong)));
  EXPECT_EQ(std::ranges::count(texts, "gap"), 1);
  EXPECT_EQ(texts.size(), 2 + 1 + 10U);
}

TEST(Relay, AnUnorderedTopicIsSentOnce) {
  FakeGroup group({"a"}, Service::unordered);
  const OneRelay one(group, "m1");
  Client writer = connected({one.address()});
  const auto published = writer.publish("a", "x", kLong);
  ASSERT_TRUE(published);
  EXPECT_EQ(published->outcome, Outcome::sent);
  EXPECT_EQ(group.delivered().size(), 1U);
}

TEST(Relay, WaitsForSpaceInTheBundleAndLosesNothing) {
  FakeGroup group({"a"}, Service::stored);
  const OneRelay one(group, "m1");
  Client writer = connected({one.address()});
  group.set_full(true);
  Outcomes outcomes;
  const std::string text = "x";
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(writer.publish("a", std::as_bytes(std::span(text)), outcomes.counter()));
  }
  const auto none = writer.publish("a", "late", 50ms);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::timed_out);
  group.set_full(false);
  ASSERT_TRUE(outcomes.wait_for(100));
  EXPECT_EQ(outcomes.delivered(), 100U);
}

TEST(Relay, ASessionThatIsNotUsedExpiresAndTheClientOpensAnother) {
  FakeGroup group({"a"}, Service::stored);
  const OneRelay one(group, "m1",
                     {.listen = "127.0.0.1:0",
                      .handshake_timeout = 100ms,
                      .idle_timeout = 500ms,
                      .session_idle = 1s});
  Client writer = connected({one.address()});
  ASSERT_TRUE(writer.publish("a", "0", kLong));
  while (group.sessions() != 0) std::this_thread::yield();
  const auto published = writer.publish("a", "1", kLong);
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ(published->outcome, Outcome::delivered);
  EXPECT_EQ(group.delivered().size(), 2U);
}

TEST(Relay, AFunctionThatThrowsEndsNoClient) {
  FakeGroup group({"a"}, Service::stored);
  OneRelay relay(group, "m");
  auto made = Client::create({.relays = {relay.address()},
                              .log = [](std::string_view) { throw std::runtime_error("log"); }});
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->topic("a", kLong));
  std::atomic<int> received{0};
  const auto subscription = made->subscribe(
      "a", {.from = client::SubscribeOptions::From::stored, .on_received = [&](const Received&) {
              if (++received == 1) throw std::runtime_error("received");
            }});
  ASSERT_TRUE(subscription);
  ASSERT_TRUE(
      made->publish("a", std::as_bytes(std::span("one")), [](const Published&) { throw 1; }));
  const auto second = made->publish("a", "two", kLong);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->outcome, Outcome::delivered);
  for (const auto end = std::chrono::steady_clock::now() + kLong; received != 2;) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::yield();
  }
}

TEST(Relay, OptionsOutOfRangeAreRefused) {
  FakeGroup group({"a"}, Service::stored);
  const auto backend = group.member("m");
  for (const dds::RelayOptions& bad :
       {dds::RelayOptions{},
        {.listen = "x", .clients_max = 0},
        {.listen = "x", .half_open_max = 0},
        {.listen = "x", .memory_per_client = 1},
        {.listen = "x", .frame_bytes_max = 1},
        {.listen = "x", .memory_per_client = 1 << 20, .frame_bytes_max = 1 << 20},
        {.listen = "x", .idle_timeout = 0ns},
        {.listen = "x", .session_idle = 1ms},
        {.listen = "x", .token = std::string(2000, 'x')}}) {
    const auto refused = Server::start(*backend, bad);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("RelayOptions::"), std::string::npos);
  }
  EXPECT_FALSE(Client::create({}));
  EXPECT_FALSE(Client::create({.relays = {"no-port"}}));
}

}  // namespace
}  // namespace tutti::relay::testing
