/// \file endings_test.cpp
/// Readers, participants and topics that begin and end while samples and announcements are under
/// way: nothing hangs, nothing is called afterwards, and nothing that was said is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "domain.hpp"

namespace tutti::dds {
namespace {

using ::testing::HasSubstr;

const TopicOptions kKeepsAll{
    .service = Service::volatile_storage, .history = keep_all(), .max_samples = 2};

TEST(Beginnings, WhoeverHearsOfAReaderReachesIt) {
  TestDomain domain({.participants = 2});
  domain.start();
  for (int round = 0; round < 30; ++round) {
    const std::string name = "t" + std::to_string(round);
    const auto ours = must(Topic<int>::create(domain[0], name));
    const auto theirs = must(Topic<int>::create(domain[1], name));
    std::atomic<bool> matched{false};
    auto writer = must(DataWriter<int>::create(
        ours, {}, {.on_publication_matched = [&](const MatchedStatus& status) {
          if (status.total > 0) matched = true;
        }}));
    std::jthread writes([&] {
      if (!until([&] { return matched.load(); })) return;
      must(writer.wait(must(writer.write(round)), kPatience));
    });
    auto reader = must(DataReader<int>::create(theirs));
    must(reader.wait(kPatience));
    EXPECT_EQ(must(reader.take())[0].data(), round);
  }
}

TEST(Beginnings, AReaderAndAWriterThatAreMadeAtOnceAreBothCounted) {
  TestDomain domain({.participants = 2});
  domain.start();
  for (int round = 0; round < 50; ++round) {
    const std::string name = "t" + std::to_string(round);
    const auto topic = must(Topic<int>::create(domain[0], name));
    std::optional<DataReader<int>> reader;
    std::optional<DataWriter<int>> writer;
    std::latch both(2);
    {
      std::jthread reads([&] {
        both.arrive_and_wait();
        reader.emplace(must(DataReader<int>::create(topic)));
      });
      both.arrive_and_wait();
      writer.emplace(must(DataWriter<int>::create(topic)));
    }
    // Both were told by now; what is counted is for ever.
    for (const TopicDescription& each : domain[0].topics()) {
      if (each.name != name) continue;
      ASSERT_EQ(each.endpoints.size(), 1U);
      EXPECT_EQ(each.endpoints[0].readers, 1U) << name;
      EXPECT_EQ(each.endpoints[0].writers, 1U) << name;
    }
  }
}

// Two readers of keep_all in one bundle, whose delivery waits for the second.
class WaitingDelivery : public ::testing::Test {
 protected:
  WaitingDelivery() : domain({.participants = 1}) {
    domain.start();
    other.emplace(must(Topic<int>::create(domain[0], "other", kKeepsAll)));
    topic.emplace(must(Topic<int>::create(domain[0], "t", kKeepsAll)));
    slow.emplace(must(DataReader<int>::create(*topic)));
    reader.emplace(must(DataReader<int>::create(*other)));
    writer.emplace(must(DataWriter<int>::create(*topic)));
    for (int i = 0; i < 5; ++i) static_cast<void>(must(writer->write(i)));
    EXPECT_TRUE(until([&] { return domain[0].statistics().reader_waits > 0; }));
  }

  TestDomain domain;
  std::optional<Topic<int>> other;
  std::optional<Topic<int>> topic;
  std::optional<DataReader<int>> slow;
  std::optional<DataReader<int>> reader;
  std::optional<DataWriter<int>> writer;
};

TEST_F(WaitingDelivery, EndsWithItsParticipant) {
  {
    const DomainParticipant gone = std::move(domain[0]);
  }
  must(writer->wait_for_acknowledgments(kPatience));
}

TEST_F(WaitingDelivery, EndsWithItsNode) {
  domain.kill(0);
  EXPECT_THAT(slow->take().error().message, HasSubstr("has ended"));
}

TEST_F(WaitingDelivery, HoldsUpTheEndOfNoOtherReader) {
  reader.reset();
  EXPECT_EQ(domain[0].statistics().reader_waits, 1U);  // it waits still
  EXPECT_EQ(must(slow->take()).size(), 2U);
  slow.reset();
  must(writer->wait_for_acknowledgments(kPatience));
}

TEST(Endings, AListenerMayOwnAnotherReaderOfTheBundle) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  const auto other = must(Topic<int>::create(domain[0], "other"));
  auto writer = must(DataWriter<int>::create(topic));
  auto owned = std::make_shared<DataReader<int>>(must(DataReader<int>::create(other)));
  const std::weak_ptr<DataReader<int>> watched = owned;
  {
    auto reader = must(DataReader<int>::create(
        topic, {}, {.on_sample = [owned](const int&, const SampleInfo&) { (void)owned; }}));
    owned.reset();
    must(writer.wait(must(writer.write(1)), kPatience));
  }
  // The next batch drops what the listener had.
  must(writer.wait(must(writer.write(2)), kPatience));
  EXPECT_TRUE(watched.expired());
  static_cast<void>(must(Topic<int>::create(domain[0], "more")));
}

TEST(Endings, NoListenerIsCalledOnceTheParticipantIsGone) {
  TestDomain domain({.participants = 2});
  domain.start();
  std::atomic<int> calls{0};
  const auto count = [&](const auto&) { ++calls; };
  const TopicListener listener{.on_inconsistent_topic = count};
  std::optional topic = must(Topic<int>::create(domain[0], "t", {}, listener));
  std::optional reader =
      must(DataReader<int>::create(*topic, {}, {.on_subscription_matched = count}));
  const auto theirs = must(Topic<int>::create(domain[1], "t"));
  {
    auto writer = must(DataWriter<int>::create(theirs));
  }
  ASSERT_TRUE(until([&] { return calls == 2; }));  // it came, and went
  {
    const DomainParticipant gone = std::move(domain[0]);
  }
  auto writer = must(DataWriter<int>::create(theirs));
  EXPECT_FALSE(Topic<double>::create(domain[1], "t"));
  EXPECT_FALSE(DataReader<int>::create(*topic));
  {
    std::jthread stops([&] { must(domain.node(1).stop(kPatience)); });
    must(domain.node(0).stop(kPatience));  // it has delivered both
  }
  EXPECT_EQ(calls, 2);
}

TEST(Endings, ADefinitionThatItsBundleCannotCarryIsRefused) {
  ParticipantOptions options;
  options.bundles = {{.name = "small", .message_max_bytes = 1024, .window_bytes = 8192}};
  TestDomain domain({.participants = 1, .participant = options});
  domain.start();
  TopicTypeInfo type{.name = "Wide", .hash = 1};
  type.description.resize(2000);
  const auto made = UntypedTopic::create(domain[0], "t", type);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("message_max_bytes"));
  EXPECT_TRUE(domain[0].topics().empty());
}

// What the log of a bundle has, that only the first participant sends in.
class LogsOfOneSender : public ::testing::Test {
 protected:
  LogsOfOneSender() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-topics-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~LogsOfOneSender() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] DomainOptions options(bool first) const {
    ParticipantOptions participant;
    participant.bundles = {{.name = "l", .service = Service::logged, .senders = {"a"}},
                           {.name = "plain"}};
    return {.participants = 2,
            .participant = participant,
            .adjust_node = [this, first](std::size_t which, NodeOptions& node) {
              node.state_dir = root_ + "/" + std::to_string(which);
              node.bootstrap = first && which == 0;
            }};
  }

  std::string root_;
};

TEST_F(LogsOfOneSender, AreKnownAfterARestartBeforeAnyNameIsGiven) {
  const TopicOptions logged{.service = Service::logged};
  {
    TestDomain domain(options(true));
    domain.start();
    const auto topic = must(Topic<int>::create(domain[0], "numbers", logged));
    auto writer = must(DataWriter<int>::create(topic));
    must(writer.wait(must(writer.write(42)), kPatience));
  }
  TestDomain domain(options(false));
  domain.start();
  // The one that does not send asks first; the other one has asked for nothing.
  const auto elsewhere = Topic<int>::create(domain[1], "numbers", {.bundle = "plain"});
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, ErrorCode::mismatch);
  const auto other = Topic<double>::create(domain[1], "numbers", logged);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::mismatch);
  const auto found = must(UntypedTopic::find(domain[1], "numbers"));
  auto reader = must(UntypedReader::create(found, {.from = kFromStored}));
  must(reader.wait(kPatience));
  EXPECT_EQ(must(reader.take(5)).size(), 1U);
  static_cast<void>(must(Topic<int>::create(domain[0], "fresh", logged)));
  ASSERT_EQ(domain[0].topics().size(), 2U);
  EXPECT_NE(domain[0].topics()[0].id, domain[0].topics()[1].id);
}

TEST_F(LogsOfOneSender, FindAsTheFirstCallFindsWhatTheLogHas) {
  {
    TestDomain domain(options(true));
    domain.start();
    static_cast<void>(must(Topic<int>::create(domain[0], "numbers", {.service = Service::logged})));
  }
  TestDomain domain(options(false));
  domain.start();
  static_cast<void>(must(UntypedTopic::find(domain[0], "numbers")));
  must(domain[0].delete_topic("numbers"));
}

}  // namespace
}  // namespace tutti::dds
