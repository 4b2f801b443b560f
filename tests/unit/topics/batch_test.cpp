/// \file batch_test.cpp
/// Readers that are called with many samples at once (on_samples), and writers that several threads
/// use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "domain.hpp"
#include "tutti/dds/fields.hpp"

namespace tutti::dds {
namespace {

using ::testing::HasSubstr;

struct Worded {
  std::string word;
};
TUTTI_FIELDS(Worded, word);

// A reader that holds the delivery thread in its first call: what is written meanwhile comes in
// batches.
class Plug {
 public:
  explicit Plug(DomainParticipant& participant)
      : topic_(must(Topic<int>::create(participant, "plug"))),
        reader_(must(DataReader<int>::create(topic_, {},
                                             {.on_sample = [this](const int&, const SampleInfo&) {
                                               in_.count_down();
                                               out_.wait();
                                             }}))) {
    auto writer = must(DataWriter<int>::create(topic_));
    static_cast<void>(must(writer.write(0)));
    in_.wait();
  }
  ~Plug() { pull(); }
  Plug(const Plug&) = delete;
  Plug& operator=(const Plug&) = delete;
  void pull() {
    if (!pulled_) out_.count_down();
    pulled_ = true;
  }

 private:
  std::latch in_{1};
  std::latch out_{1};
  bool pulled_ = false;
  Topic<int> topic_;
  DataReader<int> reader_;
};

ParticipantOptions with_thread_of_its_own() {
  ParticipantOptions options;
  options.bundles = {
      {.name = "atomic", .delivery = DeliveryThread::own},
      {.name = "unordered", .service = Service::unordered, .delivery = DeliveryThread::own}};
  return options;
}

// What a reader was called with: the delivery thread's, until all was delivered.
struct Calls {
  std::vector<int> values{};
  std::vector<std::uint64_t> positions{};
  std::vector<std::size_t> sizes{};
  std::atomic<std::size_t> count{0};

  void add(const SampleBatch<int>& batch) {
    sizes.push_back(batch.size());
    for (const auto& sample : batch) {
      values.push_back(sample.data());
      positions.push_back(sample.info().position.value);
      EXPECT_GT(sample.info().source_timestamp, 0U);
      EXPECT_EQ(sample.info().lost_before, 0U);
    }
    count += batch.size();
  }
};

TEST(Batches, SamplesOfOneTopicComeTogetherAndTopicsKeepTheirOrder) {
  TestDomain domain({.participants = 1, .participant = with_thread_of_its_own()});
  domain.start();
  const auto first = must(Topic<int>::create(domain[0], "first"));
  const auto second = must(Topic<int>::create(domain[0], "second"));
  // Of calls in a row the sum: where one delivery ends and the next one begins is not said.
  std::vector<std::pair<std::string, std::size_t>> order;
  const auto note = [&order](const char* topic, std::size_t samples) {
    if (order.empty() || order.back().first != topic) order.emplace_back(topic, 0);
    order.back().second += samples;
  };
  Calls calls;
  auto reader =
      must(DataReader<int>::create(first, {}, {.on_samples = [&](const SampleBatch<int>& batch) {
                                     note("first", batch.size());
                                     calls.add(batch);
                                   }}));
  auto other = must(DataReader<int>::create(
      second, {},
      {.on_samples = [&](const SampleBatch<int>& batch) { note("second", batch.size()); }}));
  auto takes = must(DataReader<int>::create(first));
  auto writer = must(DataWriter<int>::create(first));
  auto writes = must(DataWriter<int>::create(second));
  Plug plug(domain[0]);
  for (int i = 0; i < 5; ++i) static_cast<void>(must(writer.write(i)));
  static_cast<void>(must(writes.write(7)));
  static_cast<void>(must(writes.write(8)));
  for (int i = 5; i < 8; ++i) static_cast<void>(must(writer.write(i)));
  plug.pull();
  must(writer.wait_for_acknowledgments(kPatience));
  EXPECT_EQ(order, (std::vector<std::pair<std::string, std::size_t>>{
                       {"first", 5}, {"second", 2}, {"first", 3}}));
  EXPECT_EQ(calls.values, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  const auto taken = must(takes.take());
  ASSERT_EQ(taken.size(), 8U);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i].data(), calls.values[i]);
    EXPECT_EQ(taken[i].info().position.value, calls.positions[i]);
  }
}

// A topic that keeps all waits for both readers, the second of which comes when the delivery has
// begun with a run that is longer than what may be kept.
TEST(Batches, AReaderThatComesDuringARunIsToldOfIt) {
  constexpr int kSamples = 200;
  TestDomain domain({.participants = 1, .participant = with_thread_of_its_own()});
  domain.start();
  const auto topic =
      must(Topic<int>::create(domain[0], "t", {.history = keep_all(), .max_samples = 10}));
  std::latch in_run(1);
  std::latch has_come(1);
  bool waited = false;
  auto caller =
      must(DataReader<int>::create(topic, {}, {.on_samples = [&](const SampleBatch<int>& batch) {
                                     if (batch.size() < 50 || std::exchange(waited, true)) return;
                                     in_run.count_down();
                                     has_come.wait();
                                   }}));
  auto first = must(DataReader<int>::create(topic));
  std::size_t taken_first = 0;
  const auto take_first = [&] { taken_first += must(first.take()).size(); };
  auto writer = must(DataWriter<int>::create(topic));
  Plug plug(domain[0]);
  for (int i = 0; i < kSamples; ++i) static_cast<void>(must(writer.write(i)));
  plug.pull();
  ASSERT_TRUE(until([&] { return take_first(), in_run.try_wait(); }));
  std::atomic<int> told{0};
  auto second = must(DataReader<int>::create(topic, {}, {.on_data_available = [&] { ++told; }}));
  has_come.count_down();
  EXPECT_TRUE(until([&] {
    take_first();
    if (told.exchange(0) > 0) static_cast<void>(must(second.take()));
    return taken_first == kSamples;
  }));
}

TEST(Batches, PositionsOfAnUnorderedTopicAreCountedOverBatches) {
  TestDomain domain({.participants = 1, .participant = with_thread_of_its_own()});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t", {.service = Service::unordered}));
  Calls calls;
  auto reader = must(DataReader<int>::create(
      topic, {}, {.on_samples = [&](const SampleBatch<int>& batch) { calls.add(batch); }}));
  auto writer = must(DataWriter<int>::create(topic));
  for (int i = 0; i < 1000; ++i) static_cast<void>(must(writer.write(i)));
  ASSERT_TRUE(until([&] { return calls.count == 1000; }));
  for (std::size_t i = 0; i < calls.values.size(); ++i) {
    EXPECT_EQ(calls.values[i], static_cast<int>(i));
    EXPECT_EQ(calls.positions[i], i);
  }
}

TEST(Batches, BytesThatDoNotFitAreInNoBatch) {
  TestDomain domain({.participants = 1, .participant = with_thread_of_its_own()});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  Calls calls;
  auto reader = must(DataReader<int>::create(
      topic, {}, {.on_samples = [&](const SampleBatch<int>& batch) { calls.add(batch); }}));
  auto writer = must(DataWriter<int>::create(topic));
  auto untyped = must(UntypedWriter::create(topic.untyped()));
  Group group = untyped.group();
  Plug plug(domain[0]);
  static_cast<void>(must(writer.write(1)));
  std::string header(16, '\0');  // as src/dds/record.hpp says: a sample of this topic
  header[0] = 1;
  header[2] = 16;
  header[4] = 1;
  static_cast<void>(must(group.send(header + "abcde", 1s)));  // an int has 4 bytes
  static_cast<void>(must(group.send(header.substr(0, 15), 1s)));
  static_cast<void>(must(writer.write(2)));
  plug.pull();
  must(writer.wait_for_acknowledgments(kPatience));
  EXPECT_EQ(calls.values, (std::vector<int>{1, 2}));
  EXPECT_EQ(calls.sizes, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(domain[0].statistics().malformed, 2U);
}

TEST(Batches, AReaderThatEndsItselfIsHandedNoMoreOfTheBatch) {
  TestDomain domain({.participants = 1, .participant = with_thread_of_its_own()});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  std::optional<DataReader<int>> each;
  std::optional<DataReader<int>> batches;
  int calls = 0;
  int seen = 0;
  bool was_intact = false;
  bool was_over = true;
  bool is_over = false;
  each = must(DataReader<int>::create(topic, {}, {.on_sample = [&](const int&, const SampleInfo&) {
                                        was_intact = each->intact();
                                        each.reset();
                                        ++calls;
                                      }}));
  batches =
      must(DataReader<int>::create(topic, {}, {.on_samples = [&](const SampleBatch<int>& batch) {
                                     was_over = batch.is_over();
                                     batches.reset();
                                     is_over = batch.is_over();
                                     ++seen;
                                   }}));
  auto writer = must(DataWriter<int>::create(topic));
  Plug plug(domain[0]);
  for (int i = 0; i < 10; ++i) static_cast<void>(must(writer.write(i)));
  plug.pull();
  must(writer.wait_for_acknowledgments(kPatience));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(was_intact);
  EXPECT_FALSE(was_over);
  EXPECT_TRUE(is_over);
}

TEST(Batches, AReaderHasOneOfTheTwo) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  const auto typed = DataReader<int>::create(topic, {},
                                             {.on_sample = [](const int&, const SampleInfo&) {},
                                              .on_samples = [](const SampleBatch<int>&) {}});
  ASSERT_FALSE(typed);
  EXPECT_THAT(typed.error().message, HasSubstr("give it one of them"));
  const auto untyped =
      UntypedReader::create(topic.untyped(), {},
                            {.on_sample = [](std::span<const std::byte>, const SampleInfo&) {},
                             .on_samples = [](const ByteBatch&) {}});
  ASSERT_FALSE(untyped);
  EXPECT_THAT(untyped.error().message, HasSubstr("give it one of them"));
  auto called =
      must(DataReader<int>::create(topic, {}, {.on_samples = [](const SampleBatch<int>&) {}}));
  const auto taken = called.take();
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("nothing to take"));
}

TEST(Batches, SamplesOfAnEncodedTypeComeOneByOne) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<Worded>::create(domain[0], "t"));
  const auto refused =
      DataReader<Worded>::create(topic, {}, {.on_samples = [](const SampleBatch<Worded>&) {}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("give the reader on_sample"));
}

TEST(Batches, AcknowledgmentsAreOfAllThreadsThatWrite) {
  TestDomain domain({.participants = 1, .participant = with_thread_of_its_own()});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  std::atomic<int> seen{0};
  auto reader = must(DataReader<int>::create(
      topic, {}, {.on_sample = [&](const int&, const SampleInfo&) { ++seen; }}));
  auto writer = must(DataWriter<int>::create(topic, {.max_blocking_time = kPatience}));
  must(writer.wait_for_acknowledgments(0s));  // nothing was written
  for (const bool other_is_last : {true, false}) {
    Plug plug(domain[0]);
    const int before = seen;
    const auto write_some = [&] {
      for (int i = 0; i < 100; ++i) static_cast<void>(must(writer.write(i)));
    };
    if (!other_is_last) std::jthread(write_some).join();
    write_some();
    if (other_is_last) std::jthread(write_some).join();
    const auto early = writer.wait_for_acknowledgments(0s);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().code, ErrorCode::timed_out);
    plug.pull();
    must(writer.wait_for_acknowledgments(kPatience));
    EXPECT_EQ(seen, before + 200);
  }
}

}  // namespace
}  // namespace tutti::dds
