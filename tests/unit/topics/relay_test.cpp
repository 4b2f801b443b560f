/// \file relay_test.cpp
/// What a relay does in its participant: it begins where the history does, and waits for nobody.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "domain.hpp"
#include "tutti/client.hpp"
#include "tutti/dds/relay.hpp"

namespace tutti::dds {

struct Price {
  std::uint32_t symbol = 0;
  std::uint32_t value = 0;
};
TUTTI_FIELDS(Price, symbol, value);
TUTTI_OPTIONS(Price, .keys = {"symbol"});

namespace {

client::Client a_client(const Relay& relay, const std::string& topic) {
  auto made = must(client::Client::create({.relays = {relay.address()}, .name = "test"}));
  static_cast<void>(must(made.topic(topic, kPatience)));
  return made;
}

// Of several calls at once, one has it; it may have another one once that has ended.
TEST(RelayOfParticipant, HasOneRelayWhoeverCreatesIt) {
  TestDomain domain({.participants = 1});
  domain.start();
  for (int round = 0; round < 20; ++round) {
    std::latch begin(2);
    std::vector<Result<Relay>> made;
    std::mutex mutex;
    const auto create = [&] {
      begin.arrive_and_wait();
      Result<Relay> one = Relay::create(domain[0], {.listen = "127.0.0.1:0"});
      const std::lock_guard lock(mutex);
      made.push_back(std::move(one));
    };
    {
      const std::jthread one(create);
      const std::jthread other(create);
    }
    EXPECT_EQ(std::ranges::count_if(made, [](const auto& one) { return one.has_value(); }), 1);
  }
}

// What was published of another key since does not hide it.
TEST(RelayOfParticipant, GivesTheNewestOfEachKeyFromTheHistory) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<Price>::create(
      domain[0], "prices", {.service = Service::volatile_storage, .history = keep_last(1)}));
  auto writer = must(DataWriter<Price>::create(topic));
  Ticket last{};
  for (const Price& price : {Price{1, 10}, Price{2, 20}, Price{2, 21}, Price{2, 22}}) {
    last = must(writer.write(price));
  }
  must(writer.wait(last, kPatience));
  const Relay relay = must(Relay::create(domain[0], {.listen = "127.0.0.1:0"}));
  client::Client client = a_client(relay, "prices");
  auto subscription =
      must(client.subscribe("prices", {.from = client::SubscribeOptions::From::stored}));
  std::vector<std::uint32_t> values;
  while (values.size() < 2) {
    const client::Received received = must(subscription.take(kPatience));
    const auto* const sample = std::get_if<client::Sample>(&received);
    if (sample == nullptr) continue;
    Price price;
    ASSERT_EQ(sample->bytes.size(), sizeof price);
    std::memcpy(&price, sample->bytes.data(), sizeof price);
    values.push_back(price.value);
  }
  EXPECT_EQ(values, (std::vector<std::uint32_t>{10, 22}));
}

// Nobody else is told of anything, and no client pings, which would have the relay look.
TEST(RelayOfParticipant, TellsASubscriberThatItsTopicWasDeleted) {
  TestDomain domain({.participants = 1});
  domain.start();
  static_cast<void>(must(Topic<int>::create(domain[0], "numbers")));
  const Relay relay = must(
      Relay::create(domain[0], {.listen = "127.0.0.1:0", .idle_timeout = std::chrono::hours(1)}));
  client::Client client = a_client(relay, "numbers");
  auto subscription = must(client.subscribe("numbers"));
  static_cast<void>(must(client.topic("numbers", kPatience)));  // it has reached the relay
  must(domain[0].delete_topic("numbers"));
  const client::Received received = must(subscription.take(kPatience));
  EXPECT_TRUE(std::holds_alternative<client::Ended>(received));
}

// Nothing of it is kept, but its samples are counted.
TEST(RelayOfParticipant, TellsWhatAClientMissedOfATopicWithoutOrder) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic =
      must(Topic<int>::create(domain[0], "numbers", {.service = Service::unordered}));
  auto writer = must(DataWriter<int>::create(topic));
  const Relay relay = must(Relay::create(domain[0], {.listen = "127.0.0.1:0"}));
  client::Client client = a_client(relay, "numbers");
  std::uint64_t written = 0;
  const auto write = [&] {
    static_cast<void>(must(writer.write(7)));
    ++written;
  };
  client::Sample last;
  {
    auto subscription = must(client.subscribe("numbers"));
    static_cast<void>(must(client.topic("numbers", kPatience)));  // it has reached the relay
    Result<client::Received> received = subscription.take(std::chrono::nanoseconds(0));
    for (; !received; received = subscription.take(std::chrono::milliseconds(20))) write();
    ASSERT_TRUE(std::holds_alternative<client::Sample>(*received));
    last = std::get<client::Sample>(*received);
  }
  for (int i = 0; i < 5; ++i) write();
  ASSERT_TRUE(until([&] { return domain[0].statistics().samples >= written; }));
  auto again = must(client.subscribe("numbers", {.from = client::SubscribeOptions::From::position,
                                                 .position = last.position + 1,
                                                 .epoch = last.epoch}));
  static_cast<void>(must(client.topic("numbers", kPatience)));
  write();
  const client::Received first = must(again.take(kPatience));
  ASSERT_TRUE(std::holds_alternative<client::Gap>(first));
  const client::Received next = must(again.take(kPatience));
  ASSERT_TRUE(std::holds_alternative<client::Sample>(next));
  EXPECT_EQ(std::get<client::Gap>(first).from, last.position + 1);
  EXPECT_EQ(std::get<client::Gap>(first).to, std::get<client::Sample>(next).position);
}

// Without order each topic numbers its own samples.
TEST(RelayOfParticipant, TellsThatATopicWithoutOrderWasCreatedAgain) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto create = [&] {
    return must(Topic<int>::create(domain[0], "numbers", {.service = Service::unordered}));
  };
  const auto before = create();
  const Relay relay = must(Relay::create(domain[0], {.listen = "127.0.0.1:0"}));
  client::Client client = a_client(relay, "numbers");
  const std::uint64_t epoch = must(client.topic("numbers", kPatience)).epoch;
  must(domain[0].delete_topic("numbers"));
  ASSERT_TRUE(until([&] { return domain[0].topics().empty(); }));
  const auto now = create();
  EXPECT_NE(must(client.topic("numbers", kPatience)).epoch, epoch);
  auto writer = must(DataWriter<int>::create(now));
  auto again = must(client.subscribe(
      "numbers",
      {.from = client::SubscribeOptions::From::position, .position = 1000, .epoch = epoch}));
  Result<client::Received> first = again.take(std::chrono::nanoseconds(0));
  for (; !first; first = again.take(std::chrono::milliseconds(20))) {
    static_cast<void>(must(writer.write(7)));
  }
  ASSERT_TRUE(std::holds_alternative<client::Gap>(*first));
  EXPECT_EQ(std::get<client::Gap>(*first).to, ~std::uint64_t{0});
  static_cast<void>(must(writer.write(7)));
  EXPECT_TRUE(std::holds_alternative<client::Sample>(must(again.take(kPatience))));
}

// A delivery that waits for a slow reader holds up no client.
TEST(RelayOfParticipant, AnswersWhileADeliveryWaits) {
  ParticipantOptions options;
  options.bundles = {{.name = "slow", .delivery = DeliveryThread::own}};
  TestDomain domain({.participants = 1, .participant = options});
  domain.start();
  const auto topic = must(Topic<int>::create(
      domain[0], "numbers", {.bundle = "slow", .history = keep_all(), .max_samples = 4}));
  const auto quiet = must(Topic<int>::create(domain[0], "quiet", {.bundle = "slow"}));
  auto reader = must(DataReader<int>::create(topic));
  auto writer = must(DataWriter<int>::create(topic));
  const Relay relay = must(Relay::create(domain[0], {.listen = "127.0.0.1:0"}));
  client::Client client = a_client(relay, "quiet");
  std::optional<client::Subscription> other(must(client.subscribe("quiet")));
  static_cast<void>(must(client.topic("quiet", kPatience)));  // it has reached the relay
  for (int i = 0; i < 20; ++i) static_cast<void>(must(writer.write(i)));
  ASSERT_TRUE(until([&] { return domain[0].statistics().reader_waits > 0; }));
  other.reset();
  const auto answer = client.topic("quiet", kPatience);
  EXPECT_TRUE(answer) << answer.error().message;
  for (int next = 0; next < 20;) {
    must(reader.wait(kPatience));
    for (const auto& sample : must(reader.take())) EXPECT_EQ(sample.data(), next++);
  }
}

}  // namespace
}  // namespace tutti::dds
