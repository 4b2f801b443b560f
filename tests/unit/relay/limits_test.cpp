// What does not fit, comes too late or waits: it is answered, and the connection goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "relay/server.hpp"
#include "relay/topic_cursor.hpp"
#include "unit/relay/fake_group.hpp"
#include "unit/relay/raw_client.hpp"
#include "unit/relay/some_frames.hpp"

namespace tutti::relay::testing {
namespace {

using namespace std::chrono_literals;

struct Limited {
  explicit Limited(FakeGroup& group, dds::RelayOptions options = {}) : backend(group.member("m")) {
    options.listen = "127.0.0.1:0";
    auto started = Server::start(*backend, options);
    EXPECT_TRUE(started) << started.error().message;
    if (started) server = std::move(*started);
  }
  [[nodiscard]] const std::string& address() const { return server->address(); }
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Server> server{};
};

constexpr std::uint32_t kFrame = 8U << 10;
constexpr std::size_t kMemory = 64U << 10;

std::vector<std::string> many_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i) + std::string(240, 'x'));
  return names;
}

void open(RawClient& client, std::uint64_t id) {
  ASSERT_TRUE(client.hello(id));
  client.say(Find{1, "a"});
  client.say(Open{.nonce = id});
  ASSERT_TRUE(client.hear<Opened>());
}

// CV4.
TEST(RelayLimits, AClientIsToldOfNoLargerSamplesThanAFrameHolds) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group, {.memory_per_client = kMemory, .frame_bytes_max = kFrame});
  RawClient client(relay.address());
  ASSERT_TRUE(client.hello(1));
  client.say(Find{1, "a"});
  const auto found = client.hear<Found>();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->topic.sample_bytes_max, kFrame - kFrameOverhead);
  client.say(Open{.nonce = 1});
  ASSERT_TRUE(client.hear<Opened>());
  const std::vector<std::byte> largest(found->topic.sample_bytes_max);
  client.say(Publish{.nonce = 1, .request = 1, .bytes = largest});
  const auto published = client.hear<Published>();
  ASSERT_TRUE(published);
  EXPECT_EQ(published->status, Status::delivered);
}

// CV4.
TEST(RelayLimits, ASampleThatIsTooLargeForASubscriberIsAGap) {
  FakeGroup group({"a"}, Service::stored);
  Limited large(group);
  Limited small(group, {.memory_per_client = kMemory, .frame_bytes_max = kFrame});
  RawClient writer(large.address());
  open(writer, 1);
  const std::vector<std::byte> bytes(50'000);
  writer.say(Publish{.nonce = 1, .request = 1, .bytes = bytes});
  writer.say(Publish{.nonce = 1, .request = 2, .bytes = kPayload});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(writer.hear<Published>());
  RawClient reader(small.address());
  ASSERT_TRUE(reader.hello(2));
  reader.say(Find{1, "a"});
  reader.say(Subscribe{.subscription = 1, .from = From::stored, .credit = 1});
  const auto gap = reader.hear<Gap>();
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->to, gap->from + 1);
  const auto sample = reader.hear<Sample>();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->bytes.size(), kPayload.size());
}

// CV4.
TEST(RelayLimits, AListThatIsLongerThanTheOutputComesInParts) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back(std::to_string(i) + std::string(200, 'x'));
  FakeGroup group(names, Service::stored);
  Limited relay(group, {.memory_per_client = kMemory, .frame_bytes_max = kFrame});
  RawClient client(relay.address());
  ASSERT_TRUE(client.hello(1));
  client.say(List{1});
  std::size_t topics = 0;
  for (bool last = false; !last;) {
    const auto part = client.hear<Topics>();
    ASSERT_TRUE(part);
    topics += part->topics.size();
    last = part->last;
  }
  EXPECT_EQ(topics, names.size());
  client.say(Ping{1});
  EXPECT_TRUE(client.hear<Pong>());
}

// CV5.
TEST(RelayLimits, ATopicIsRefusedOnlyOnceTheMemberIsNotBehind) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group);
  RawClient client(relay.address());
  ASSERT_TRUE(client.hello(1));
  group.hold(true);
  group.create_later("b");
  client.say(Find{1, "b"});
  RawClient other(relay.address());
  ASSERT_TRUE(other.hello(2));  // the relay goes on meanwhile
  group.hold(false);
  client.say(Find{2, "c"});
  const auto found = client.hear<Found>();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->topic.name, "b");
  const auto refused = client.hear<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::unknown_topic);
  EXPECT_EQ(refused->id, 2U);
}

// CV4: it would ask again on each connection.
TEST(RelayLimits, AListOfMoreTopicsThanMayHaveNumbersIsWhole) {
  FakeGroup group(many_names(12'000), Service::stored);
  Limited relay(group);
  RawClient client(relay.address());
  ASSERT_TRUE(client.hello(1));
  client.say(List{1});
  std::size_t numbered = 0;
  std::vector<TopicInfo> all;
  for (bool last = false; !last;) {
    const auto part = client.hear<Topics>();
    ASSERT_TRUE(part);
    for (const TopicInfo& one : part->topics) {
      numbered += one.topic != kNoNumber ? 1 : 0;
      all.push_back(one);
    }
    last = part->last;
  }
  ASSERT_EQ(all.size(), 12'000U);
  EXPECT_GT(numbered, 1000U);
  ASSERT_EQ(all.back().topic, kNoNumber);
  client.say(Open{.topic = kNoNumber, .nonce = 1});
  const auto refused = client.hear<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::unknown_topic);
  client.say(Find{1, all.back().name});
  const auto found = client.hear<Found>();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->topic.topic, numbered);
}

// CV4.
TEST(RelayLimits, MoreTopicsThanMayHaveNumbersAreRefusedAndTheConnectionGoesOn) {
  const std::vector<std::string> names = many_names(12'000);
  FakeGroup group(names, Service::stored);
  Limited relay(group);
  RawClient client(relay.address());
  ASSERT_TRUE(client.hello(1));
  std::size_t found = 0;
  for (; found < names.size(); ++found) {
    client.say(Find{1, names[found]});
    const auto answer = client.hear<Found, Refused>();
    ASSERT_TRUE(answer);
    if (const auto* const refused = std::get_if<Refused>(&*answer)) {
      EXPECT_EQ(refused->code, Code::busy);
      break;
    }
  }
  EXPECT_GT(found, 1000U);
  EXPECT_LT(found, names.size());
  client.say(Find{2, names.front()});  // it has a number
  EXPECT_TRUE(client.hear<Found>());
}

// CV5.
TEST(RelayLimits, OfTwoTopicsOfOneNameAMemberThatWasBehindGivesTheNewOne) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group);
  RawClient client(relay.address());
  ASSERT_TRUE(client.hello(1));
  group.hold(true);
  group.create_later("a");
  client.say(Find{1, "a"});
  RawClient other(relay.address());
  ASSERT_TRUE(other.hello(2));
  group.hold(false);
  client.say(Open{.nonce = 1});
  ASSERT_TRUE(client.hear<Opened>());
  client.say(Publish{.nonce = 1, .request = 1, .bytes = kPayload});
  ASSERT_TRUE(client.hear<Published>());
  EXPECT_TRUE(group.delivered(0).empty());
  EXPECT_EQ(group.delivered(1).size(), 1U);
}

TEST(RelayLimits, WhatACursorHoldsIsLimitedByItsBytes) {
  EXPECT_EQ(TopicCursor::look_of(1000, 100), 16U);
  EXPECT_EQ(TopicCursor::look_of(3, 100), 3U);
  EXPECT_EQ(TopicCursor::look_of(1000, 20'000), 3U);
  EXPECT_EQ(TopicCursor::look_of(1000, 16U << 20), 1U);
}

TEST(RelayLimits, ASampleOfADeletedTopicIsNotDelivered) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group);
  RawClient client(relay.address());
  open(client, 1);
  group.delete_topics();
  for (int i = 0; i < 2; ++i) {  // the second one is a repeat
    client.say(Publish{.nonce = 1, .request = 1, .bytes = kPayload});
    const auto published = client.hear<Published>();
    ASSERT_TRUE(published);
    EXPECT_EQ(published->status, Status::unfit);
  }
  EXPECT_TRUE(group.delivered().empty());
}

TEST(RelayLimits, OneSubscriberWithMuchToReadKeepsNobodyWaiting) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group);
  RawClient client(relay.address());
  open(client, 1);
  client.say(Publish{.nonce = 1, .request = 1, .bytes = kPayload});
  ASSERT_TRUE(client.hear<Published>());
  group.look_in_vain(1000);
  client.say(Subscribe{.subscription = 1, .from = From::stored, .credit = 1});
  EXPECT_TRUE(client.hear<Sample>());
}

TEST(RelayLimits, OpensAndClosesCountAsPublishes) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group, {.publishes_per_second = 200});
  RawClient client(relay.address());
  open(client, 1);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t nonce = 2; nonce <= 131; ++nonce) {
    client.say(Open{.nonce = nonce});
    ASSERT_TRUE(client.hear<Opened>());
    client.say(Close{nonce});
    ASSERT_TRUE(client.hear<Closed>());
  }
  // The first 200 come out of what was saved up.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 250ms);
}

TEST(RelayLimits, APublisherThatTheBundleHoldsBackIsNotSilent) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group, {.idle_timeout = 2s});
  RawClient held(relay.address());
  open(held, 1);
  group.set_full(true);
  held.say(Publish{.nonce = 1, .request = 1, .bytes = kPayload});
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(held.hear<Ping>()) << "the relay is not silent either";
  group.set_full(false);
  EXPECT_TRUE(held.hear<Published>());
  EXPECT_EQ(relay.server->statistics().timed_out, 0U);
}

TEST(RelayLimits, APublisherThatIsHeldBackAndHangsUpIsForgotten) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group, {.idle_timeout = 2s});
  {
    RawClient held(relay.address());
    open(held, 1);
    group.set_full(true);
    held.say(Publish{.nonce = 1, .request = 1, .bytes = kPayload});
    held.say(Publish{.nonce = 1, .request = 2, .bytes = kPayload});
  }
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (relay.server->statistics().clients != 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(1ms);
  }
}

// Each piece of the frame comes within the time that a client may be silent, all of it does not.
TEST(RelayLimits, ALongFrameThatComesSlowlyIsAnsweredByPings) {
  FakeGroup group({"a"}, Service::stored);
  Limited relay(group, {.idle_timeout = 2s});
  RawClient client(relay.address());
  open(client, 1);
  std::vector<std::byte> frame;
  encode(Frame(Publish{.nonce = 1, .request = 1, .bytes = kPayload}), frame);
  for (std::size_t at = 0; at < frame.size(); at += 8) {
    ASSERT_TRUE(
        client.send(std::span(frame).subspan(at, std::min<std::size_t>(8, frame.size() - at))));
    if (at % 16 != 0) continue;
    ASSERT_TRUE(client.hear<Ping>());
  }
  EXPECT_TRUE(client.hear<Published>());
}

}  // namespace
}  // namespace tutti::relay::testing
