/// \file clients_test.cpp
/// Clients that are no members publish and subscribe through relays of real participants.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "domain.hpp"
#include "support/loopback.hpp"
#include "tutti/client.hpp"
#include "tutti/dds/relay.hpp"

namespace tutti::dds {
namespace {

using client::Client;
using client::Published;
using client::Received;

UntypedTopic texts(DomainParticipant& participant, const TopicOptions& options) {
  return must(UntypedTopic::create(participant, "texts", {.name = "text", .hash = 1}, options));
}

// The relay listens on a loopback host of this process, so that another one can follow it there.
Relay relay_of(DomainParticipant& participant,
               const std::string& listen = loopback_members(1)[0].address) {
  return must(Relay::create(participant, {.listen = listen}));
}

Client client_of(std::vector<std::string> relays) {
  Client made = must(Client::create({.relays = std::move(relays), .name = "test"}));
  const auto found = must(made.topic("texts", kPatience));
  EXPECT_EQ(found.type, "text");
  return made;
}

std::string text_of(const Received& received) {
  const auto* const sample = std::get_if<client::Sample>(&received);
  return sample != nullptr ? std::string(sample->text()) : "no sample";
}

// What participants read, until there are so many.
std::vector<std::string> read_texts(UntypedReader& reader, std::size_t count) {
  std::vector<std::string> out;
  while (out.size() < count) {
    must(reader.wait(kPatience));
    const LoanedBytes taken = must(reader.take(100));
    for (const auto& sample : taken) {
      out.emplace_back(reinterpret_cast<const char*>(sample.data), sample.size);
    }
  }
  return out;
}

std::vector<std::string> texts_of(int from, int to) {
  std::vector<std::string> out;
  for (int i = from; i < to; ++i) out.push_back(std::to_string(i));
  return out;
}

// Publishes without waiting; until all have an outcome.
class Publisher {
 public:
  explicit Publisher(Client& to) : client_(to) {}
  void publish(int from, int to) {
    for (const std::string& text : texts_of(from, to)) {
      ++made_;
      must(client_.publish("texts", std::as_bytes(std::span(text)), [this](const Published& one) {
        const std::lock_guard lock(mutex_);
        ++answered_;
        delivered_ += one.outcome == Published::Outcome::delivered ? 1 : 0;
        changed_.notify_all();
      }));
    }
  }
  // How many of all were delivered.
  std::size_t wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return answered_ == made_; }));
    return delivered_;
  }

 private:
  Client& client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t made_ = 0;
  std::size_t answered_ = 0;
  std::size_t delivered_ = 0;
};

class ClientsOf : public ::testing::TestWithParam<Service> {};

TEST_P(ClientsOf, ParticipantsAndClientsReadOneSequence) {
  TestDomain domain({.participants = 2});
  domain.start();
  const UntypedTopic topic = texts(domain[0], {.service = GetParam(), .history = keep_last(1000)});
  ASSERT_TRUE(until([&] { return domain[1].topics().size() == 1; }));
  auto reader = must(UntypedReader::create(topic));
  auto writer = must(UntypedWriter::create(topic));
  const Relay one = relay_of(domain[0]);
  const Relay other = relay_of(domain[1]);
  Client publisher = client_of({one.address()});
  Client subscriber = client_of({other.address()});
  auto subscription = must(subscriber.subscribe("texts"));
  // It has begun once it gets what is written now.
  const std::string sync = "sync";
  do {
    must(writer.write(std::as_bytes(std::span(sync))));
  } while (!subscription.take(20ms));
  const auto next = [&] {
    std::string text = sync;
    while (text == sync) text = text_of(must(subscription.take(kPatience)));
    return text;
  };
  for (int i = 0; i < 300; ++i) {
    const std::string text = std::to_string(i);
    if (i % 3 == 0) {
      must(writer.write(std::as_bytes(std::span(text))));
    } else {
      const Published done = must(publisher.publish("texts", text, kPatience));
      EXPECT_EQ(done.outcome, GetParam() == Service::unordered ? Published::Outcome::sent
                                                               : Published::Outcome::delivered);
    }
    if (GetParam() != Service::unordered) {
      EXPECT_EQ(next(), text);
    }
  }
  std::vector<std::string> all;
  while (all.size() < 300) {
    for (std::string& text : read_texts(reader, 1)) {
      if (text != sync) all.push_back(std::move(text));
    }
  }
  std::vector<std::string> expected = texts_of(0, 300);
  if (GetParam() == Service::unordered) {
    // Only each sender's samples are in its order.
    std::ranges::sort(all);
    std::ranges::sort(expected);
  }
  EXPECT_EQ(all, expected);
}

INSTANTIATE_TEST_SUITE_P(Services, ClientsOf,
                         ::testing::Values(Service::unordered, Service::atomic,
                                           Service::volatile_storage));

TEST(Clients, LoseAndRepeatNothingWhenMembersDieAndJoin) {
  TestDomain domain({.participants = 3});
  domain.start();
  const UntypedTopic topic =
      texts(domain[0], {.service = Service::volatile_storage, .history = keep_last(10'000)});
  ASSERT_TRUE(until([&] { return domain[2].topics().size() == 1; }));
  auto reader = must(UntypedReader::create(topic));
  std::optional<Relay> first(relay_of(domain[2]));
  std::optional<Relay> second(relay_of(domain[1]));
  const std::string address = first->address();
  Client client = client_of({first->address(), second->address()});
  auto subscription =
      must(client.subscribe("texts", {.from = client::SubscribeOptions::From::stored}));
  Publisher publisher(client);
  publisher.publish(0, 200);
  domain.kill(2);  // its relay finds that it stopped
  first.reset();
  publisher.publish(200, 400);
  EXPECT_EQ(publisher.wait(), 400U);
  ASSERT_TRUE(until([&] { return domain.are_in_view_of(2); }));
  domain.renew(2);
  domain.start({2});
  // What joined has the session table: the session goes on there.
  first.emplace(relay_of(domain[2], address));
  publisher.publish(400, 500);
  second.reset();
  publisher.publish(500, 600);
  EXPECT_EQ(publisher.wait(), 600U);
  EXPECT_EQ(read_texts(reader, 600), texts_of(0, 600));
  for (const std::string& text : texts_of(0, 600)) {
    ASSERT_EQ(text_of(must(subscription.take(kPatience))), text);
  }
}

// Other relays may go on.
TEST(Clients, AreNotToldThatATopicEndsWhereTheirRelaysMemberLosesTheOthers) {
  TestDomain domain({.participants = 3});
  domain.start();
  const UntypedTopic topic = texts(domain[0], {.service = Service::atomic});
  ASSERT_TRUE(until([&] { return domain[2].topics().size() == 1; }));
  const Relay relay = relay_of(domain[2]);
  Client client = client_of({relay.address()});
  auto subscription = must(client.subscribe("texts"));
  domain.kill(0);
  domain.kill(1);
  bool ended = false;
  EXPECT_TRUE(until([&] {
    const Result<Received> received = subscription.take(std::chrono::milliseconds(1));
    ended = ended || (received && std::holds_alternative<client::Ended>(*received));
    return ended || !client.is_connected();
  }));
  EXPECT_FALSE(ended);
}

TEST(Clients, GoOnAfterAllMembersWereStopped) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tutti-client-XXXXXX").string();
  const std::string root = ::mkdtemp(pattern.data());
  const auto options = [&](bool first) {
    return DomainOptions{.participants = 2,
                         .adjust_node = [root, first](std::size_t which, NodeOptions& node) {
                           node.state_dir = root + "/" + std::to_string(which);
                           node.bootstrap = first && which == 0;
                         }};
  };
  std::string address;
  std::optional<Client> client;
  std::optional<client::Subscription> subscription;
  std::optional<Publisher> publisher;
  {
    TestDomain domain(options(true));
    domain.start();
    const UntypedTopic topic = texts(domain[0], {.service = Service::logged});
    const Relay relay = relay_of(domain[0]);
    address = relay.address();
    client.emplace(client_of({address}));
    publisher.emplace(*client);
    subscription.emplace(must(
        client->subscribe("texts", {.from = client::SubscribeOptions::From::stored, .window = 8})));
    publisher->publish(0, 100);
    EXPECT_EQ(publisher->wait(), 100U);
    for (const std::string& text : texts_of(0, 50)) {
      ASSERT_EQ(text_of(must(subscription->take(kPatience))), text);
    }
  }
  publisher->publish(100, 150);
  {
    TestDomain domain(options(false));
    domain.start();
    const Relay relay = relay_of(domain[1], address);
    EXPECT_EQ(publisher->wait(), 150U);
    for (const std::string& text : texts_of(50, 150)) {
      ASSERT_EQ(text_of(must(subscription->take(kPatience))), text);
    }
    // Repeats that were not delivered are none for a late reader of the log either.
    auto all = must(client->subscribe("texts", {.from = client::SubscribeOptions::From::stored}));
    for (const std::string& text : texts_of(0, 150)) {
      ASSERT_EQ(text_of(must(all.take(kPatience))), text);
    }
    subscription.reset();
    client.reset();
  }
  std::filesystem::remove_all(root);
}

struct Alarm {
  std::uint32_t place = 0;
  std::uint32_t level = 0;
};
TUTTI_FIELDS(Alarm, place, level);
TUTTI_OPTIONS(Alarm, .keys = {"place"});

// A session is of a bundle: it may be opened by a topic to which clients cannot publish.
TEST(Clients, MayUseATopicWithKeysBesideOneWithout) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto alarms = must(Topic<Alarm>::create(domain[0], "alarms"));
  const UntypedTopic topic = texts(domain[0], {});
  const Relay relay = relay_of(domain[0]);
  Client client = must(Client::create({.relays = {relay.address()}}));
  EXPECT_EQ(must(client.topic("alarms", kPatience)).sample_bytes_max, 0U);
  must(client.topic("texts", kPatience));
  const auto bytes = std::as_bytes(std::span("hello", 5));
  EXPECT_EQ(must(client.publish("texts", bytes, kPatience)).outcome, Published::Outcome::delivered);
  EXPECT_FALSE(client.publish("alarms", bytes, kPatience));
}

TEST(Clients, SamplesOfAnotherSizeThanTheTypeAreRefusedInTheirTurn) {
  TestDomain domain({.participants = 2});
  domain.start();
  const auto topic = must(Topic<std::uint64_t>::create(domain[0], "numbers"));
  auto reader = must(DataReader<std::uint64_t>::create(topic));
  const Relay relay = relay_of(domain[0]);
  const auto second = Relay::create(domain[0], {.listen = "127.0.0.1:0"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::invalid_argument);
  Client client = must(Client::create({.relays = {relay.address()}}));
  const auto found = must(client.topic("numbers", kPatience));
  EXPECT_EQ(found.service, client::Service::atomic);
  const std::uint64_t number = 7;
  const auto bytes = std::as_bytes(std::span(&number, 1));
  EXPECT_EQ(must(client.publish("numbers", bytes, kPatience)).outcome,
            Published::Outcome::delivered);
  EXPECT_EQ(must(client.publish("numbers", bytes.first(3), kPatience)).outcome,
            Published::Outcome::refused);
  EXPECT_EQ(must(client.publish("numbers", bytes, kPatience)).outcome,
            Published::Outcome::delivered);
  const std::vector<std::byte> large(1 << 20);
  EXPECT_FALSE(client.publish("numbers", large, kPatience));
  EXPECT_FALSE(client.topic("nothing", kPatience));
  must(reader.wait(kPatience));
  EXPECT_EQ(must(reader.take()).size(), 2U);
}

}  // namespace
}  // namespace tutti::dds
