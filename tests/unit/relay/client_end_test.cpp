// The end of a C++ client: whatever was asked is answered, and what is asked then is refused.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "relay/server.hpp"
#include "tutti/client.hpp"
#include "unit/relay/fake_group.hpp"
#include "unit/relay/some_frames.hpp"

namespace tutti::relay::testing {
namespace {

using namespace std::chrono_literals;

// A client of a relay that has topic "a", of which it has heard.
class ClientEnd : public ::testing::Test {
 protected:
  ClientEnd() {
    auto started = Server::start(*backend_, {.listen = "127.0.0.1:0"});
    EXPECT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    auto made = client::Client::create({.relays = {server_->address()}, .name = "test"});
    EXPECT_TRUE(made) << made.error().message;
    client_ = std::make_unique<client::Client>(std::move(*made));
    EXPECT_TRUE(client_->topic("a", 30s));
  }

  FakeGroup group_{{"a"}, Service::stored};
  std::unique_ptr<Backend> backend_ = group_.member("m");
  std::unique_ptr<Server> server_{};
  std::unique_ptr<client::Client> client_{};
};

TEST_F(ClientEnd, MayComeInItsOwnCallback) {
  group_.hold(true);
  std::promise<void> ended;
  const auto answered = [&](const client::Published&) {
    client_.reset();
    ended.set_value();
  };
  ASSERT_TRUE(client_->publish("a", kPayload, answered));
  group_.hold(false);
  ended.get_future().get();
  // Its thread lets go of the connection.
  while (server_->statistics().clients != 0) std::this_thread::yield();
}

TEST_F(ClientEnd, WhatIsPublishedMeanwhileIsRefused) {
  group_.hold(true);
  client::Client& one = *client_;
  std::optional<ErrorCode> code;
  const auto answered = [&](const client::Published& published) {
    EXPECT_EQ(published.outcome, client::Published::Outcome::unknown);
    const Result<void> again = one.publish("a", kPayload, [](const client::Published&) {});
    if (!again) code = again.error().code;
  };
  ASSERT_TRUE(client_->publish("a", kPayload, answered));
  client_.reset();
  EXPECT_EQ(code, ErrorCode::stopped);
}

// Another thread calls while the client answers what waits, which is its last work: nobody would
// answer.
TEST_F(ClientEnd, NoOtherCallWaits) {
  group_.hold(true);
  client::Client& one = *client_;
  std::vector<ErrorCode> codes;
  const auto note = [&](const auto& result) {
    if (!result) codes.push_back(result.error().code);
  };
  const auto answered = [&](const client::Published&) {
    std::thread other([&] {
      note(one.topic("a", 30s));
      note(one.topics(30s));
      note(one.publish("a", kPayload, 30s));
      note(one.subscribe("a"));
    });
    other.join();
  };
  ASSERT_TRUE(client_->publish("a", kPayload, answered));
  client_.reset();
  EXPECT_EQ(codes, std::vector<ErrorCode>(4, ErrorCode::stopped));
}

// Another thread destroys the client before the callback that published has returned.
TEST_F(ClientEnd, WhatACallbackPublishedBeforeItIsAnswered) {
  client::Client& one = *client_;
  std::promise<void> published;
  std::optional<client::Published::Outcome> outcome;
  const auto first = [&](const client::Published&) {
    group_.hold(true);
    EXPECT_TRUE(one.publish("a", kPayload,
                            [&](const client::Published& answer) { outcome = answer.outcome; }));
    published.set_value();
    const auto ends = [&] {
      const Result<void> more = one.publish("a", kPayload, [](const client::Published&) {});
      return !more && more.error().code == ErrorCode::stopped;
    };
    while (!ends()) std::this_thread::yield();
  };
  ASSERT_TRUE(client_->publish("a", kPayload, first));
  published.get_future().get();
  client_.reset();
  EXPECT_EQ(outcome, client::Published::Outcome::unknown);
}

TEST_F(ClientEnd, ASubscriptionThatIsMovedToItselfGoesOn) {
  auto subscription = client_->subscribe("a", {.from = client::SubscribeOptions::From::stored});
  ASSERT_TRUE(subscription);
  client::Subscription& same = *subscription;
  *subscription = std::move(same);
  ASSERT_TRUE(client_->publish("a", kPayload, 30s));
  EXPECT_TRUE(subscription->take(30s));
}

}  // namespace
}  // namespace tutti::relay::testing
