/// \file refusal_test.cpp
/// What participants refuse, and what errors and listeners say: topics that differ, calls inside
/// callbacks, limits, bytes that are no records; and how readers end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>

#include "domain.hpp"

namespace tutti::dds {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Of several threads.
class Told {
 public:
  void add(const InconsistentTopic& told) {
    const std::lock_guard lock(mutex_);
    told_ = told;
  }
  [[nodiscard]] std::optional<InconsistentTopic> get() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<InconsistentTopic> told_;
};

TEST(Refusals, ATopicThatDiffersIsNamedAtBothEnds) {
  TestDomain domain({.participants = 2});
  domain.start();
  Told types;
  Told options;
  const TopicListener listener{
      .on_inconsistent_topic = [&](const InconsistentTopic& told) { types.add(told); },
      .on_requested_incompatible_qos = [&](const InconsistentTopic& told) { options.add(told); }};
  const auto topic = must(Topic<std::uint32_t>::create(domain[0], "t", {}, listener));
  const auto other_type = Topic<double>::create(domain[1], "t");
  ASSERT_FALSE(other_type);
  EXPECT_EQ(other_type.error().code, ErrorCode::mismatch);
  EXPECT_THAT(other_type.error().message, AllOf(HasSubstr("4 bytes"), HasSubstr("8 bytes")));
  const auto other_options =
      Topic<std::uint32_t>::create(domain[1], "t", {.history = keep_last(9)});
  ASSERT_FALSE(other_options);
  EXPECT_THAT(other_options.error().message,
              AllOf(HasSubstr("history=of_service"), HasSubstr("history=keep_last(9)")));
  ASSERT_TRUE(until([&] { return types.get() && options.get(); }));
  EXPECT_EQ(types.get()->participant, domain[1].name());
  EXPECT_THAT(types.get()->ours, HasSubstr("4 bytes"));
  EXPECT_THAT(types.get()->theirs, HasSubstr("8 bytes"));
  EXPECT_THAT(options.get()->theirs, HasSubstr("keep_last(9)"));
}

TEST(Refusals, OfTwoThatCreateATopicAtOnceOneWins) {
  TestDomain domain({.participants = 2});
  domain.start();
  for (int round = 0; round < 10; ++round) {
    const std::string name = "t" + std::to_string(round);
    std::optional<Result<Topic<float>>> floats;
    std::optional<Result<Topic<double>>> doubles;
    {
      std::jthread one([&] { floats = Topic<float>::create(domain[0], name); });
      std::jthread two([&] { doubles = Topic<double>::create(domain[1], name); });
    }
    EXPECT_NE(floats->has_value(), doubles->has_value());
  }
}

TEST(Refusals, WhatTheOptionsDoNotOfferIsSaid) {
  TestDomain domain({.participants = 1, .participant = {.topics_max = 2}});
  const auto early = Topic<int>::create(domain[0], "early");
  ASSERT_FALSE(early);  // the node is not started
  EXPECT_EQ(early.error().code, ErrorCode::stopped);
  domain.start();
  const auto refusal = [&](std::string_view name, const TopicOptions& options) {
    const auto made = Topic<int>::create(domain[0], name, options);
    return made ? "no error" : made.error().message;
  };
  EXPECT_THAT(refusal("t", {.service = Service::logged}), HasSubstr("state_dir"));
  EXPECT_THAT(refusal("t", {.bundle = "none"}), HasSubstr("no bundle 'none'"));
  EXPECT_THAT(refusal("t", {.bundle = "stored"}), HasSubstr("'stored'"));
  EXPECT_THAT(refusal("t", {.history = keep_all()}), HasSubstr("delivery own"));
  EXPECT_THAT(refusal("", {}), HasSubstr("1 .. 255"));
  EXPECT_THAT(refusal(std::string(256, 'x'), {}), HasSubstr("256 bytes"));
  EXPECT_EQ(refusal("a", {}), "no error");
  EXPECT_EQ(refusal("b", {}), "no error");
  EXPECT_THAT(refusal("c", {}), AllOf(HasSubstr("2 topics"), HasSubstr("topics_max")));
  must(domain[0].delete_topic("a"));
  EXPECT_EQ(refusal("c", {}), "no error");
  const auto topic = must(Topic<int>::create(domain[0], "b"));
  const auto past = DataReader<int>::create(topic, {.from = kFromStored});
  ASSERT_FALSE(past);
  EXPECT_THAT(past.error().message, HasSubstr("stored or logged"));
  const auto find = UntypedTopic::find(domain[0], "nothing");
  ASSERT_FALSE(find);
  EXPECT_THAT(find.error().message, HasSubstr("no topic 'nothing'"));
}

TEST(Refusals, InACallbackNothingWaitsAndAReaderMayEndItself) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  auto writer = must(DataWriter<int>::create(topic));
  std::atomic<int> calls{0};
  std::optional<Error> create;
  std::optional<Error> wait;
  std::optional<DataReader<int>> reader;
  auto other = must(DataReader<int>::create(topic));
  std::latch set(1);
  reader =
      must(DataReader<int>::create(topic, {}, {.on_sample = [&](const int&, const SampleInfo&) {
                                     set.wait();
                                     const auto made = Topic<int>::create(domain[0], "u");
                                     if (!made) create = made.error();
                                     const auto waited = other.wait(kPatience);
                                     if (!waited) wait = waited.error();
                                     EXPECT_TRUE(writer.write(2));  // has space
                                     reader.reset();
                                     ++calls;
                                   }}));
  set.count_down();
  const Ticket first = must(writer.write(1));
  must(writer.wait(first, kPatience));
  must(writer.wait_for_acknowledgments(kPatience));
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(create && wait);
  EXPECT_EQ(create->code, ErrorCode::in_callback);
  EXPECT_EQ(wait->code, ErrorCode::in_callback);
  EXPECT_EQ(must(other.take()).size(), 2U);
}

TEST(Refusals, TheEndOfAReaderWaitsForItsCallback) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  auto writer = must(DataWriter<int>::create(topic));
  for (int round = 0; round < 50; ++round) {
    auto alive = std::make_unique<std::atomic<bool>>(true);
    std::atomic<bool> called{false};
    {
      auto reader = must(DataReader<int>::create(
          topic, {}, {.on_sample = [&, of = alive.get()](const int&, const SampleInfo&) {
            called = true;
            for (int i = 0; i < 100; ++i) EXPECT_TRUE(of->load());
          }}));
      ASSERT_TRUE(until([&] {
        static_cast<void>(writer.write(round));
        return called.load();
      }));
    }
    alive->store(false);
  }
}

TEST(Refusals, BytesThatAreNoRecordsAreCountedAndDropped) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  auto reader = must(DataReader<int>::create(topic));
  auto writer = must(DataWriter<int>::create(topic));
  Group group = writer.group();
  static_cast<void>(must(group.send(std::string_view("rubbish"), 1s)));  // too short
  static_cast<void>(must(group.send(std::string(40, '\xff'), 1s)));      // no kind
  std::string sample(20, '\0');
  sample[0] = 1;   // a sample
  sample[2] = 16;  // its payload
  sample[4] = 99;  // of no topic
  static_cast<void>(must(group.send(sample, 1s)));
  sample[4] = 1;
  sample.resize(19);  // an int has 4 bytes
  static_cast<void>(must(group.send(sample, 1s)));
  static_cast<void>(must(
      group.send(std::string(1, '\2') + std::string(30, '\0'), 1s)));  // a definition of nothing
  must(writer.wait(must(writer.write(5)), kPatience));
  const auto taken = must(reader.take());
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].data(), 5);
  EXPECT_EQ(domain[0].statistics().malformed, 4U);
  EXPECT_EQ(domain[0].statistics().unknown, 1U);
  auto untyped = must(UntypedWriter::create(topic.untyped()));
  const auto wrong = untyped.write(std::vector<std::byte>(5));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("5 bytes"));
}

TEST(Refusals, AWriterThatDoesNotWaitSaysThatThereIsNoSpace) {
  ParticipantOptions options;
  options.bundles = {{.name = "small",
                      .message_max_bytes = 1024,
                      .window_bytes = 4096,
                      .delivery = DeliveryThread::own}};
  TestDomain domain({.participants = 1, .participant = options});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  std::latch open(1);
  auto reader = must(DataReader<int>::create(
      topic, {}, {.on_sample = [&](const int&, const SampleInfo&) { open.wait(); }}));
  auto writer = must(DataWriter<int>::create(topic, {.max_blocking_time = 0s}));
  Result<Ticket> written = Ticket{};
  while (written) written = writer.write(1);
  EXPECT_EQ(written.error().code, ErrorCode::no_space);
  EXPECT_EQ(writer.try_write(1).error().code, ErrorCode::no_space);
  auto patient = must(DataWriter<int>::create(topic, {.max_blocking_time = 5ms}));
  EXPECT_EQ(patient.write(1).error().code, ErrorCode::timed_out);
  open.count_down();
}

TEST(Refusals, AReaderThatJoinsABundleOfSomeIsToldOfItsTopics) {
  ParticipantOptions options;
  options.bundles = {{.name = "some", .members = {"a", "c"}, .senders = {"a"}}};
  TestDomain domain({.participants = 3, .founders = 2, .participant = options});
  domain.start({0, 1});
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  auto writer = must(DataWriter<int>::create(topic));
  must(writer.wait(must(writer.write(1)), kPatience));
  domain.start({2});
  auto reader = must(DataReader<int>::create(must(Topic<int>::create(domain[2], "t"))));
  auto found = must(UntypedReader::create(must(UntypedTopic::find(domain[2], "t"))));
  static_cast<void>(must(writer.write(3)));
  must(reader.wait(kPatience));
  EXPECT_EQ(must(reader.take())[0].data(), 3);
  must(found.wait(kPatience));
  EXPECT_EQ(must(found.take(5)).size(), 1U);
}

TEST(Refusals, ABundleOfSomeIsForItsMembersAndWrittenByItsSenders) {
  ParticipantOptions options;
  options.bundles = {{.name = "some", .members = {"a", "b"}, .senders = {"a"}}};
  TestDomain domain({.participants = 3, .participant = options});
  domain.start();
  const auto outside = Topic<int>::create(domain[2], "t");
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("not among the members of bundle 'some'"));
  // One that does not send there has a sender define the topic.
  const auto theirs = must(Topic<int>::create(domain[1], "t"));
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  const auto refused = DataWriter<int>::create(theirs);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not among the senders of bundle 'some'"));
  auto reader = must(DataReader<int>::create(theirs));
  auto writer = must(DataWriter<int>::create(topic));
  static_cast<void>(must(writer.write(3)));
  must(reader.wait(kPatience));
  EXPECT_EQ(must(reader.take())[0].data(), 3);
}

TEST(Refusals, ReadersHearOfTheEndOfTheirParticipantAndTheirTopic) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  auto reader = must(DataReader<int>::create(topic));
  must(domain.node(0).stop(kPatience));
  const auto taken = reader.take();
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("topic 't'"));
  EXPECT_TRUE(reader.wait(kPatience));  // there is no more to wait for
  domain.kill(0);
  EXPECT_FALSE(reader.take());
}

}  // namespace
}  // namespace tutti::dds
