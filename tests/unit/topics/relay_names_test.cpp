// What a relay says of a name whose topic was deleted and created again, while its member is
// behind.
#include <gtest/gtest.h>

#include <latch>
#include <optional>
#include <string>

#include "domain.hpp"
#include "tutti/client.hpp"
#include "tutti/dds/relay.hpp"

namespace tutti::dds {
namespace {

constexpr const char* kName = "texts";

UntypedTopic create(DomainParticipant& participant, const std::string& type,
                    const std::string& bundle) {
  return must(
      UntypedTopic::create(participant, kName, {.name = type, .hash = 1}, {.bundle = bundle}));
}

// Two participants; the first one has the relay, and delivers nothing of the bundle "late" while a
// reader's callback holds it up.
class ARelayThatIsBehind : public ::testing::Test {
 protected:
  ARelayThatIsBehind() {
    domain_.start();
    static_cast<void>(create(domain_[1], "old", "late"));
    relay_.emplace(must(Relay::create(domain_[0], {.listen = "127.0.0.1:0"})));
    client_.emplace(must(client::Client::create({.relays = {relay_->address()}, .name = "test"})));
    EXPECT_EQ(must(client_->topic(kName, kPatience)).type, "old");
    const auto gate = must(Topic<int>::create(domain_[0], "gate", {.bundle = "late"}));
    reader_.emplace(must(DataReader<int>::create(gate, {}, {.on_sample = [this](auto&&...) {
                                                   held_.count_down();
                                                   goes_on_.wait();
                                                 }})));
    auto writer = must(DataWriter<int>::create(gate));
    static_cast<void>(must(writer.write(1)));
    held_.wait();
    must(domain_[1].delete_topic(kName));
  }
  ~ARelayThatIsBehind() override {
    if (!goes_on_.try_wait()) goes_on_.count_down();
    client_.reset();
    relay_.reset();
    reader_.reset();
  }

  static ParticipantOptions bundles() {
    ParticipantOptions options;
    options.bundles = {{.name = "other"}, {.name = "late", .delivery = DeliveryThread::own}};
    return options;
  }

  TestDomain domain_{{.participants = 2, .participant = bundles()}};
  std::latch held_{1};
  std::latch goes_on_{1};
  std::optional<Relay> relay_;
  std::optional<client::Client> client_;
  std::optional<DataReader<int>> reader_;
};

TEST_F(ARelayThatIsBehind, GivesTheTopicThatWasCreatedAgainInAnotherBundle) {
  static_cast<void>(create(domain_[1], "new", "other"));
  const auto found = must(client_->topic(kName, kPatience));
  EXPECT_EQ(found.type, "new");
  EXPECT_EQ(found.bundle, "other");
}

TEST_F(ARelayThatIsBehind, WaitsForTheTopicThatWasCreatedAgainInTheSameBundle) {
  static_cast<void>(create(domain_[1], "new", "late"));
  EXPECT_FALSE(client_->topic(kName, 200ms));
  goes_on_.count_down();
  EXPECT_EQ(must(client_->topic(kName, kPatience)).type, "new");
}

TEST_F(ARelayThatIsBehind, SaysThatATopicIsGoneWithoutItsBundle) {
  const auto found = client_->topic(kName, kPatience);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::refused);
}

// The first record of a sequence names it: a client that asks may not be the reason that two
// sequences have one name.
TEST(RelayNames, AQuestionSendsNothingIntoABundleWithoutThatTopic) {
  TestDomain domain({.participants = 1});
  domain.start();
  const Relay relay = must(Relay::create(domain[0], {.listen = "127.0.0.1:0"}));
  client::Client client =
      must(client::Client::create({.relays = {relay.address()}, .name = "test"}));
  EXPECT_FALSE(client.topic("nothing", kPatience));
  static_cast<void>(create(domain[0], "text", {}));
  EXPECT_GT(must(client.topic(kName, kPatience)).epoch, 1U);
}

}  // namespace
}  // namespace tutti::dds
