/// \file state_test.cpp
/// What outlives writers and participants: the history of stored topics, for late readers and for
/// participants that join, and the log of logged ones, over restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "domain.hpp"

namespace tutti::dds {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> values(const LoanedSamples<int>& samples) {
  std::vector<int> out;
  for (const auto& sample : samples) out.push_back(sample.data());
  return out;
}

std::vector<int> values(const LoanedBytes& samples) {
  std::vector<int> out;
  for (const auto& sample : samples) {
    EXPECT_EQ(sample.size, sizeof(int));
    std::memcpy(&out.emplace_back(), sample.data, sizeof(int));
  }
  return out;
}

// Takes until it has so many.
std::vector<int> take_all(DataReader<int>& reader, std::size_t count) {
  std::vector<int> out;
  while (out.size() < count) {
    must(reader.wait(kPatience));
    for (const int value : values(must(reader.take(7)))) out.push_back(value);
  }
  return out;
}

std::vector<int> numbers(int from, int to) {
  std::vector<int> out;
  for (int i = from; i < to; ++i) out.push_back(i);
  return out;
}

void write_numbers(DataWriter<int>& writer, int from, int to) {
  for (int i = from; i < to; ++i) static_cast<void>(must(writer.write(i)));
  must(writer.wait_for_acknowledgments(kPatience));
}

const TopicOptions kStored{.service = Service::volatile_storage, .history = keep_last(3)};

TEST(StoredTopics, ALateReaderBeginsWithTheHistoryThatOutlivesItsWriter) {
  TestDomain domain({.participants = 2});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "numbers", kStored));
  {
    auto writer = must(DataWriter<int>::create(topic));
    write_numbers(writer, 0, 10);
  }
  const auto theirs = must(Topic<int>::create(domain[1], "numbers", kStored));
  auto all = must(DataReader<int>::create(theirs, {.from = kFromStored}));
  auto now = must(DataReader<int>::create(theirs));
  const auto taken = must(all.take());
  EXPECT_THAT(values(taken), ElementsAre(7, 8, 9));
  EXPECT_EQ(taken[0].info().lost_before, 0U);
  EXPECT_TRUE(must(now.take()).empty());
  // Goes on behind what it has seen.
  const SeqNo next{taken[1].info().position.value + 1};
  auto later = must(DataReader<int>::create(theirs, {.from = from_position(next)}));
  EXPECT_THAT(values(must(later.take())), ElementsAre(9));
  EXPECT_EQ(later.lost(), 0U);
  auto too_late = must(DataReader<int>::create(theirs, {.from = from_position(SeqNo{0})}));
  EXPECT_THAT(values(must(too_late.take())), ElementsAre(7, 8, 9));
  EXPECT_EQ(too_late.lost(), 1U);
}

TEST(StoredTopics, WhoAsksForTheFirstPositionHasLostNothingIfNothingWent) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "numbers", kStored));
  auto writer = must(DataWriter<int>::create(topic));
  write_numbers(writer, 0, 3);
  auto all = must(DataReader<int>::create(topic, {.from = from_position(SeqNo{0})}));
  EXPECT_THAT(values(must(all.take())), ElementsAre(0, 1, 2));
  EXPECT_EQ(all.lost(), 0U);
}

TEST(StoredTopics, AParticipantThatJoinsTakesOverTheHistoryAndTheTopics) {
  TestDomain domain({.participants = 3, .founders = 2});
  domain.start({0, 1});
  const auto stored = must(Topic<int>::create(domain[0], "stored", kStored));
  const auto atomic = must(Topic<int>::create(domain[0], "atomic"));
  const auto unordered =
      must(Topic<int>::create(domain[0], "unordered", {.service = Service::unordered}));
  const auto deleted = must(Topic<int>::create(domain[0], "deleted"));
  must(domain[0].delete_topic("deleted"));
  auto writer = must(DataWriter<int>::create(stored));
  write_numbers(writer, 0, 10);
  domain.start({2});
  ASSERT_EQ(domain[2].topics().size(), 3U);
  const auto theirs = must(UntypedTopic::find(domain[2], "stored"));
  auto reader = must(UntypedReader::create(theirs, {.from = kFromStored}));
  EXPECT_THAT(values(must(reader.take(10))), ElementsAre(7, 8, 9));
  write_numbers(writer, 10, 11);
  must(reader.wait(kPatience));
  EXPECT_THAT(values(must(reader.take(10))), ElementsAre(10));
  auto unordered_reader = must(DataReader<int>::create(
      must(Topic<int>::create(domain[2], "unordered", {.service = Service::unordered}))));
  auto atomic_reader = must(DataReader<int>::create(must(Topic<int>::create(domain[2], "atomic"))));
  auto unordered_writer = must(DataWriter<int>::create(unordered));
  auto atomic_writer = must(DataWriter<int>::create(atomic));
  write_numbers(unordered_writer, 1, 4);
  write_numbers(atomic_writer, 5, 8);
  EXPECT_THAT(take_all(unordered_reader, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(take_all(atomic_reader, 3), ElementsAre(5, 6, 7));
}

TEST(StoredTopics, ReadersOfAParticipantThatDiedAreGone) {
  TestDomain domain({.participants = 3});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "numbers", kStored));
  auto writer = must(DataWriter<int>::create(topic));
  write_numbers(writer, 0, 5);
  {
    const auto theirs = must(Topic<int>::create(domain[2], "numbers", kStored));
    auto reader = must(DataReader<int>::create(theirs));
    EXPECT_TRUE(until([&] { return domain[0].topics()[0].endpoints.size() == 2; }));
    domain.kill(2);
  }
  ASSERT_TRUE(until([&] { return domain.are_in_view_of(2); }));
  EXPECT_TRUE(until([&] { return domain[0].topics()[0].endpoints.size() == 1; }));
  domain.renew(2);
  domain.start({2});
  EXPECT_EQ(domain[2].topics()[0].endpoints.size(), 1U);
  const auto again = must(Topic<int>::create(domain[2], "numbers", kStored));
  auto reader = must(DataReader<int>::create(again, {.from = kFromStored}));
  EXPECT_THAT(values(must(reader.take())), ElementsAre(2, 3, 4));
}

class LoggedTopics : public ::testing::Test {
 protected:
  LoggedTopics() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-topics-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~LoggedTopics() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] DomainOptions options(bool first) const {
    return {.participants = 2, .adjust_node = [this, first](std::size_t which, NodeOptions& node) {
              node.state_dir = root_ + "/" + std::to_string(which);
              node.bootstrap = first && which == 0;
            }};
  }

  std::string root_;
};

const TopicOptions kLogged{.service = Service::logged};

TEST_F(LoggedTopics, AReaderHasTheWholeLogAfterAllParticipantsWereStopped) {
  SeqNo seen;
  {
    TestDomain domain(options(true));
    domain.start();
    const auto topic = must(Topic<int>::create(domain[0], "numbers", kLogged));
    const auto other = must(Topic<int>::create(domain[1], "other", kLogged));
    auto writer = must(DataWriter<int>::create(topic));
    auto others = must(DataWriter<int>::create(other));
    auto reader = must(DataReader<int>::create(topic));
    for (int i = 0; i < 20; ++i) {
      write_numbers(writer, i, i + 1);
      write_numbers(others, -1, 0);
    }
    EXPECT_EQ(take_all(reader, 20), numbers(0, 20));
    auto again = must(DataReader<int>::create(topic, {.from = kFromStored}));
    const auto first = must(again.take(5));
    ASSERT_FALSE(first.empty());
    seen = first[first.size() - 1].info().position;
    EXPECT_EQ(first[first.size() - 1].data(), static_cast<int>(first.size()) - 1);
  }
  TestDomain domain(options(false));
  domain.start();
  // A new topic does not get the id of one that is in the log.
  const auto fresh = must(Topic<int>::create(domain[1], "fresh", kLogged));
  const auto topic = must(Topic<int>::create(domain[1], "numbers", kLogged));
  EXPECT_TRUE(until([&] { return domain[0].topics().size() == 3; }));
  auto all = must(DataReader<int>::create(topic, {.from = kFromStored}));
  EXPECT_EQ(take_all(all, 20), numbers(0, 20));
  auto now = must(DataReader<int>::create(topic));
  EXPECT_TRUE(must(now.take()).empty());
  auto rest = must(DataReader<int>::create(topic, {.from = from_position(SeqNo{seen.value + 1})}));
  const auto taken = must(rest.take());
  ASSERT_FALSE(taken.empty());
  EXPECT_GT(taken[0].info().position, seen);
  auto writer = must(DataWriter<int>::create(topic));
  write_numbers(writer, 20, 30);
  EXPECT_EQ(take_all(all, 10), numbers(20, 30));
  EXPECT_EQ(take_all(now, 10), numbers(20, 30));
  const auto mismatch = Topic<float>::create(domain[0], "numbers", kLogged);
  ASSERT_FALSE(mismatch);
  EXPECT_EQ(mismatch.error().code, ErrorCode::mismatch);
}

TEST_F(LoggedTopics, AReaderThatFellBehindReadsOnFromTheLog) {
  TestDomain domain(options(true));
  domain.start();
  const TopicOptions small{.service = Service::logged, .max_samples = 8};
  const auto topic = must(Topic<int>::create(domain[0], "numbers", small));
  auto writer = must(DataWriter<int>::create(topic));
  auto reader = must(DataReader<int>::create(topic));
  write_numbers(writer, 0, 5);
  EXPECT_EQ(take_all(reader, 5), numbers(0, 5));
  write_numbers(writer, 5, 100);
  EXPECT_EQ(take_all(reader, 95), numbers(5, 100));
  EXPECT_EQ(reader.lost(), 0U);
}

TEST_F(LoggedTopics, AParticipantThatComesBackReadsWhatItMissed) {
  DomainOptions with = options(true);
  with.participants = 3;
  with.adjust_node = [this, inner = with.adjust_node](std::size_t which, NodeOptions& node) {
    inner(which, node);
    if (std::filesystem::exists(root_ + "/0/views")) node.bootstrap = false;
  };
  TestDomain domain(with);
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "numbers", kLogged));
  auto writer = must(DataWriter<int>::create(topic));
  write_numbers(writer, 0, 10);
  domain.kill(2);
  ASSERT_TRUE(until([&] { return domain.are_in_view_of(2); }));
  write_numbers(writer, 10, 20);
  domain.renew(2);
  domain.start({2});
  const auto theirs = must(Topic<int>::create(domain[2], "numbers", kLogged));
  auto reader = must(DataReader<int>::create(theirs, {.from = kFromStored}));
  write_numbers(writer, 20, 30);
  EXPECT_EQ(take_all(reader, 30), numbers(0, 30));
}

}  // namespace
}  // namespace tutti::dds
