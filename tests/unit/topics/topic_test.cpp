/// \file topic_test.cpp
/// Topics on real nodes: samples come to all readers in one order, in place or taken, and
/// participants learn of each other's readers and writers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "domain.hpp"

namespace tutti::dds {
namespace {

using ::testing::HasSubstr;

struct Reading {
  std::uint64_t number;
  std::uint32_t writer;
  float value;
};

// What a reader was called with; any thread.
class Heard {
 public:
  void add(const Reading& reading, const SampleInfo& info) {
    const std::lock_guard lock(mutex_);
    sequence_.emplace_back(reading.writer, reading.number);
    positions_.push_back(info.position.value);
  }
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint64_t>> sequence() const {
    const std::lock_guard lock(mutex_);
    return sequence_;
  }
  [[nodiscard]] std::vector<std::uint64_t> positions() const {
    const std::lock_guard lock(mutex_);
    return positions_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sequence_;
  std::vector<std::uint64_t> positions_;
};

ReaderListener<Reading> into(Heard& heard) {
  return {.on_sample = [&heard](const Reading& reading, const SampleInfo& info) {
    heard.add(reading, info);
  }};
}

constexpr std::uint64_t kEach = 500;

void write_all(DataWriter<Reading>& writer, std::uint32_t name) {
  for (std::uint64_t i = 0; i < kEach; ++i) {
    Result<Ticket> written = writer.write({.number = i, .writer = name, .value = 1});
    while (!written && written.error().code == ErrorCode::timed_out) {
      written = writer.write({.number = i, .writer = name, .value = 1});
    }
    ASSERT_TRUE(written) << written.error().message;
  }
}

TEST(Topics, AllParticipantsReadOneOrder) {
  TestDomain domain({});
  domain.start();
  std::vector<Heard> heard(3);
  std::vector<DataReader<Reading>> readers;
  std::vector<DataWriter<Reading>> writers;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto topic = must(Topic<Reading>::create(domain[i], "readings"));
    readers.push_back(must(DataReader<Reading>::create(topic, {}, into(heard[i]))));
    writers.push_back(must(DataWriter<Reading>::create(topic)));
  }
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < 3; ++i) {
      threads.emplace_back([&writers, i] { write_all(writers[i], i); });
    }
  }
  for (auto& writer : writers) must(writer.wait_for_acknowledgments(kPatience));
  for (const Heard& each : heard) {
    ASSERT_TRUE(until([&] { return each.sequence().size() == 3 * kEach; }));
    EXPECT_EQ(each.sequence(), heard[0].sequence());
    EXPECT_EQ(each.positions(), heard[0].positions());
  }
}

TEST(Topics, AnUnorderedTopicKeepsTheOrderOfEachWriter) {
  TestDomain domain({});
  domain.start();
  std::vector<Heard> heard(3);
  std::vector<DataReader<Reading>> readers;
  std::vector<DataWriter<Reading>> writers;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto topic =
        must(Topic<Reading>::create(domain[i], "readings", {.service = Service::unordered}));
    readers.push_back(must(DataReader<Reading>::create(topic, {}, into(heard[i]))));
    writers.push_back(must(DataWriter<Reading>::create(topic)));
  }
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < 3; ++i) {
      threads.emplace_back([&writers, i] { write_all(writers[i], i); });
    }
  }
  for (const Heard& each : heard) {
    ASSERT_TRUE(until([&] { return each.sequence().size() == 3 * kEach; }));
    std::vector<std::uint64_t> next(3);
    for (const auto& [writer, number] : each.sequence()) EXPECT_EQ(number, next[writer]++);
  }
}

TEST(Topics, ReadersThatTakeGetWhatWasWrittenInALoan) {
  TestDomain domain({});
  domain.start();
  const auto topic = must(Topic<Reading>::create(domain[0], "readings"));
  auto writer = must(DataWriter<Reading>::create(topic));
  const auto theirs = must(Topic<Reading>::create(domain[1], "readings"));
  auto reader = must(DataReader<Reading>::create(theirs));
  EXPECT_TRUE(must(reader.take()).empty());
  auto loan = must(writer.loan());
  *loan = {.number = 7, .writer = 1, .value = 0.5F};
  const Ticket ticket = must(writer.write(std::move(loan)));
  must(writer.wait(ticket, kPatience));
  must(reader.wait(kPatience));
  const LoanedSamples<Reading> taken = must(reader.take());
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].data().number, 7U);
  EXPECT_EQ(taken[0].data().value, 0.5F);
  EXPECT_EQ(theirs.name_of(taken[0].info().sender), domain[0].name());
  EXPECT_GT(taken[0].info().source_timestamp, 0U);
  EXPECT_EQ(taken[0].info().lost_before, 0U);
  EXPECT_TRUE(must(reader.take()).empty());
}

TEST(Topics, AWaitSetWaitsForEitherReader) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto first = must(Topic<Reading>::create(domain[0], "first"));
  const auto second = must(Topic<int>::create(domain[0], "second"));
  auto readings = must(DataReader<Reading>::create(first));
  auto numbers = must(DataReader<int>::create(second));
  auto writer = must(DataWriter<int>::create(second));
  WaitSet either(readings, numbers);
  const Result<void> nothing = either.wait(1ms);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::timed_out);
  std::jthread later([&writer] { EXPECT_TRUE(writer.write(5)); });
  must(either.wait(kPatience));
  EXPECT_TRUE(must(readings.take()).empty());
  const auto taken = must(numbers.take());
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].data(), 5);
}

TEST(Topics, ASlowReaderLosesTheOldestAndIsTold) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "numbers", {.history = keep_last(10)}));
  std::atomic<std::uint64_t> told{0};
  auto reader = must(DataReader<int>::create(
      topic, {}, {.on_sample_lost = [&](const SampleLostStatus& status) { told = status.total; }}));
  auto writer = must(DataWriter<int>::create(topic));
  for (int i = 0; i < 100; ++i) static_cast<void>(must(writer.write(i)));
  must(writer.wait_for_acknowledgments(kPatience));
  const auto taken = must(reader.take());
  ASSERT_EQ(taken.size(), 10U);
  EXPECT_EQ(taken[0].data(), 90);
  EXPECT_EQ(taken[0].info().lost_before, 90U);
  EXPECT_EQ(taken[1].info().lost_before, 0U);
  EXPECT_EQ(reader.lost(), 90U);
  EXPECT_EQ(told, 90U);
}

TEST(Topics, KeepAllWaitsForTheReaderAndLosesNothing) {
  ParticipantOptions options;
  options.bundles = {{.name = "slow", .delivery = DeliveryThread::own}};
  TestDomain domain({.participants = 2, .participant = options});
  domain.start();
  const TopicOptions all{.history = keep_all(), .max_samples = 4};
  const auto topic = must(Topic<int>::create(domain[0], "numbers", all));
  const auto theirs = must(Topic<int>::create(domain[1], "numbers", all));
  auto writer = must(DataWriter<int>::create(topic));
  auto reader = must(DataReader<int>::create(theirs));
  for (int i = 0; i < 100; ++i) static_cast<void>(must(writer.write(i)));
  ASSERT_TRUE(until([&] { return domain[1].statistics().reader_waits > 0; }));
  for (int next = 0; next < 100;) {
    must(reader.wait(kPatience));
    for (const auto& sample : must(reader.take())) EXPECT_EQ(sample.data(), next++);
  }
  EXPECT_EQ(reader.lost(), 0U);
}

TEST(Topics, ReadersAndWritersLearnOfEachOther) {
  TestDomain domain({.participants = 2});
  domain.start();
  std::atomic<std::uint32_t> readers{0};
  std::atomic<std::uint32_t> writers{0};
  const auto topic = must(Topic<int>::create(domain[0], "numbers"));
  const auto theirs = must(Topic<int>::create(domain[1], "numbers"));
  auto writer = must(DataWriter<int>::create(
      topic, {},
      {.on_publication_matched = [&](const MatchedStatus& status) { readers = status.total; }}));
  {
    auto reader = must(DataReader<int>::create(
        theirs, {},
        {.on_subscription_matched = [&](const MatchedStatus& status) { writers = status.total; }}));
    EXPECT_TRUE(until([&] { return readers == 1 && writers == 1; }));
    const auto topics = domain[0].topics();
    ASSERT_EQ(topics.size(), 1U);
    ASSERT_EQ(topics[0].endpoints.size(), 2U);  // both were told
    EXPECT_EQ(topics[0].endpoints[1].readers, 1U);
    const Result<void> deleted = domain[0].delete_topic("numbers");
    ASSERT_FALSE(deleted);
    EXPECT_THAT(deleted.error().message, HasSubstr(domain[1].name() + " (1 readers"));
  }
  EXPECT_TRUE(until([&] { return readers == 0; }));
}

TEST(Topics, WorkWhereTheApplicationPolls) {
  TestDomain domain({.participants = 1, .adjust_node = [](std::size_t, NodeOptions& node) {
                       node.drive = Drive::caller;
                     }});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "numbers"));
  auto writer = must(DataWriter<int>::create(topic));
  auto reader = must(DataReader<int>::create(topic));
  static_cast<void>(must(writer.write(5)));
  LoanedSamples<int> taken;
  ASSERT_TRUE(until([&] {
    domain.node(0).poll();
    taken = must(reader.take());
    return !taken.empty();
  }));
  EXPECT_EQ(taken[0].data(), 5);
}

TEST(Topics, AThousandTopicsShareABundle) {
  TestDomain domain({.participants = 2});
  domain.start();
  std::vector<Topic<int>> topics;
  for (int i = 0; i < 1000; ++i) {
    topics.push_back(must(Topic<int>::create(domain[0], "t" + std::to_string(i))));
  }
  const auto one_more = Topic<int>::create(domain[1], "one more");
  ASSERT_FALSE(one_more);
  EXPECT_THAT(one_more.error().message, HasSubstr("1000 topics"));
  const auto theirs = must(Topic<int>::create(domain[1], "t999"));
  auto reader = must(DataReader<int>::create(theirs));
  auto writer = must(DataWriter<int>::create(topics[999]));
  static_cast<void>(must(writer.write(7)));
  must(reader.wait(kPatience));
  EXPECT_EQ(must(reader.take())[0].data(), 7);
}

}  // namespace
}  // namespace tutti::dds
