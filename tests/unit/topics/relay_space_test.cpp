// Clients that publish faster than a member delivers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "domain.hpp"
#include "tutti/client.hpp"
#include "tutti/dds/relay.hpp"

namespace tutti::dds {
namespace {

constexpr std::size_t kClients = 4;
constexpr std::size_t kEach = 50;

// A delivery waits for the reader, so the bundle is full again and again. What a relay claims it
// uses: no record of its member's ring is given up.
TEST(RelaySpace, AFullBundleCarriesTheClientsSamplesAndNothingElse) {
  ParticipantOptions options;
  options.bundles = {{.name = "slow", .window_messages = 16, .delivery = DeliveryThread::own}};
  TestDomain domain({.participants = 1, .participant = options});
  domain.start();
  const auto topic = must(
      UntypedTopic::create(domain[0], "texts", {.name = "text", .hash = 1},
                           {.bundle = "slow", .history = keep_all(), .max_samples = kClients}));
  auto reader = must(UntypedReader::create(topic));
  const auto writer = must(UntypedWriter::create(topic));  // shows the group
  const Relay relay = must(Relay::create(domain[0], {.listen = "127.0.0.1:0"}));
  std::vector<client::Client> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(must(client::Client::create({.relays = {relay.address()}, .name = "test"})));
    static_cast<void>(must(clients.back().topic("texts", kPatience)));
    // It has a session.
    static_cast<void>(must(clients.back().publish("texts", std::string("first"), kPatience)));
  }
  const std::string text = "next";
  for (std::size_t i = 0; i < kEach; ++i) {
    for (client::Client& client : clients) {
      must(
          client.publish("texts", std::as_bytes(std::span(text)), [](const client::Published&) {}));
    }
  }
  ASSERT_TRUE(until([&] { return domain[0].statistics().reader_waits > 0; }));
  for (std::size_t taken = 0; taken < kClients * (1 + kEach);) {
    must(reader.wait(kPatience));
    taken += must(reader.take(1)).size();
  }
  const auto all_delivered = [&] {
    const GroupStatistics now = writer.group().statistics();
    return now.delivered_messages == now.sent_messages;
  };
  EXPECT_TRUE(until(all_delivered));
  EXPECT_EQ(writer.group().statistics().nulls_sent, 0U);
}

}  // namespace
}  // namespace tutti::dds
