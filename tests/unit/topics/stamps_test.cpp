/// \file stamps_test.cpp
/// Topics whose writers write with and without source time stamps, so that the payloads of one
/// topic begin at different places of its records: what readers get of each sample, in batches, of
/// the history, and of a log.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <latch>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain.hpp"
#include "node/clock.hpp"

namespace tutti::dds {
namespace {

constexpr std::size_t kMixedWriters = 4;  // two of each participant, one of them with time stamps
constexpr std::size_t kSamplesEach = 40;

struct Stamped {
  std::vector<std::byte> bytes{};
  std::uint64_t stamp = 0;
  std::uint32_t sender = 0;
  std::uint64_t view = 0;
  friend bool operator==(const Stamped&, const Stamped&) = default;
};
using StampedSequence = std::map<std::uint64_t, Stamped>;  // by position

bool writes_stamps(std::size_t writer) { return writer % 2 == 0; }

// Of any size, odd ones too; no two are alike.
std::vector<std::byte> mixed_payload(std::size_t writer, std::size_t number) {
  std::vector<std::byte> bytes(2 + (writer * 7 + number * 13) % 200);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(writer * 64 + number + 31 * i);
  }
  bytes[0] = static_cast<std::byte>(writer);
  bytes[1] = static_cast<std::byte>(number);
  return bytes;
}

class MixedStamps : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  MixedStamps() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-stamps-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~MixedStamps() override { std::filesystem::remove_all(root_); }

  ParticipantOptions one_bundle(Service service) const {
    ParticipantOptions options;
    options.bundles = {{.name = "b",
                        .service = service,
                        .alignment = std::max(GetParam(), 8U),
                        .delivery = DeliveryThread::own}};
    return options;
  }
  UntypedTopic topic(DomainParticipant& participant, Service service) const {
    TopicOptions options{.service = service};
    if (service != Service::logged) options.history = keep_last(kMixedWriters * kSamplesEach);
    return must(UntypedTopic::create(
        participant, "t", {.name = "bytes", .hash = 1, .alignment = GetParam()}, options));
  }
  void add(StampedSequence& to, std::span<const std::byte> bytes, const SampleInfo& info) const {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % GetParam(), 0U);
    EXPECT_EQ(info.lost_before, 0U);
    const Stamped seen{
        {bytes.begin(), bytes.end()}, info.source_timestamp, info.sender.value, info.view};
    EXPECT_TRUE(to.emplace(info.position.value, seen).second);
  }
  StampedSequence take_all(UntypedReader& reader, std::size_t count) const {
    StampedSequence out;
    while (out.size() < count && !HasFailure()) {
      must(reader.wait(kPatience));
      const LoanedBytes taken = must(reader.take(7));
      for (const auto& sample : taken) add(out, sample.bytes(), sample.info);
    }
    return out;
  }

  // Each writer writes its samples, now one and now three in a row. What a reader that is called
  // sees of it, most of it in batches of all writers.
  StampedSequence write(TestDomain& domain, Service service) const {
    StampedSequence out;
    std::latch in_call(1);
    std::latch all_written(1);
    bool first = true;
    std::vector<UntypedTopic> topics;
    for (std::size_t i = 0; i < 2; ++i) topics.push_back(topic(domain[i], service));
    auto reader =
        must(UntypedReader::create(topics[0], {}, {.on_samples = [&](const ByteBatch& batch) {
                                     for (std::size_t i = 0; i < batch.size(); ++i) {
                                       add(out, batch.bytes(i), batch.info(i));
                                     }
                                     if (!std::exchange(first, false)) return;
                                     in_call.count_down();
                                     all_written.wait();
                                   }}));
    std::vector<UntypedWriter> writers;
    for (std::size_t i = 0; i < kMixedWriters; ++i) {
      writers.push_back(must(UntypedWriter::create(
          topics[i / 2], {.max_blocking_time = kPatience, .source_timestamps = writes_stamps(i)})));
    }
    const std::uint64_t before = time_of_day_ns();
    std::vector<std::size_t> next(kMixedWriters);
    const auto write_next = [&](std::size_t writer) {
      if (next[writer] == kSamplesEach) return;
      static_cast<void>(must(writers[writer].write(mixed_payload(writer, next[writer]))));
      ++next[writer];
    };
    write_next(1);
    in_call.wait();
    for (std::size_t round = 0; round < kSamplesEach; ++round) {
      for (std::size_t i = kMixedWriters; i-- > 0;) {  // first one without time stamps
        for (std::size_t k = 0; k < 1 + (round + i) % 2 * 2; ++k) write_next(i);
      }
    }
    all_written.count_down();
    for (UntypedWriter& each : writers) must(each.wait_for_acknowledgments(kPatience));
    EXPECT_TRUE(
        until([&] { return domain[0].statistics().samples == kMixedWriters * kSamplesEach; }));
    check(out, before, time_of_day_ns());
    return out;
  }

  static void check(const StampedSequence& sequence, std::uint64_t before, std::uint64_t after) {
    ASSERT_EQ(sequence.size(), kMixedWriters * kSamplesEach);
    std::vector<std::size_t> next(kMixedWriters);
    for (const auto& [position, seen] : sequence) {
      ASSERT_GE(seen.bytes.size(), 2U);
      const auto writer = static_cast<std::size_t>(seen.bytes[0]);
      ASSERT_LT(writer, kMixedWriters);
      EXPECT_EQ(seen.bytes, mixed_payload(writer, next[writer]++)) << "at " << position;
      EXPECT_EQ(seen.sender, writer / 2);
      if (writes_stamps(writer)) {
        EXPECT_GE(seen.stamp, before);
        EXPECT_LE(seen.stamp, after);
      } else {
        EXPECT_EQ(seen.stamp, 0U);
      }
    }
  }

  std::string root_;
};

TEST_P(MixedStamps, AreSeenAlikeInBatchesAndByWhoJoinsLate) {
  TestDomain domain(
      {.participants = 3, .founders = 2, .participant = one_bundle(Service::volatile_storage)});
  domain.start({0, 1});
  const StampedSequence live = write(domain, Service::volatile_storage);
  domain.start({2});
  for (std::size_t i = 0; i < 3; ++i) {
    const UntypedTopic theirs = topic(domain[i], Service::volatile_storage);
    auto reader = must(UntypedReader::create(theirs, {.from = kFromStored}));
    EXPECT_EQ(take_all(reader, live.size()), live) << "participant " << i;
  }
}

TEST_P(MixedStamps, AreSeenAlikeInALogFromAnyPosition) {
  const auto options = [this](bool first) {
    return DomainOptions{.participants = 2,
                         .participant = one_bundle(Service::logged),
                         .adjust_node = [this, first](std::size_t which, NodeOptions& node) {
                           node.state_dir = root_ + "/" + std::to_string(which);
                           node.bootstrap = first && which == 0;
                         }};
  };
  StampedSequence live;
  const auto read_from_middle = [&](TestDomain& domain) {
    const UntypedTopic theirs = topic(domain[1], Service::logged);
    const auto middle = std::next(live.begin(), static_cast<std::ptrdiff_t>(live.size() / 2));
    auto reader =
        must(UntypedReader::create(theirs, {.from = from_position(SeqNo{middle->first})}));
    const StampedSequence rest(middle, live.end());
    EXPECT_EQ(take_all(reader, rest.size()), rest);
    auto whole = must(UntypedReader::create(theirs, {.from = kFromStored}));
    EXPECT_EQ(take_all(whole, live.size()), live);
  };
  {
    TestDomain domain(options(true));
    domain.start();
    live = write(domain, Service::logged);
    read_from_middle(domain);
  }
  TestDomain domain(options(false));
  domain.start();
  read_from_middle(domain);
}

INSTANTIATE_TEST_SUITE_P(Alignments, MixedStamps, ::testing::Values(1, 8, 16, 64));

// Space that one writer has claimed is not committed by another one whose payloads begin elsewhere,
// and is not lost either.
TEST(Stamps, ASampleIsCommittedByTheWriterThatClaimedItsSpace) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<int>::create(domain[0], "t"));
  std::vector<int> values;
  auto reader = must(DataReader<int>::create(
      topic, {},
      {.on_sample = [&](const int& value, const SampleInfo&) { values.push_back(value); }}));
  auto stamped = must(DataWriter<int>::create(topic));
  auto unstamped = must(DataWriter<int>::create(topic, {.source_timestamps = false}));
  Loan<int> loan = must(stamped.loan());
  *loan = 7;
  const auto refused = unstamped.write(std::move(loan));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  static_cast<void>(must(stamped.write(std::move(loan))));  // NOLINT: it was refused before
  static_cast<void>(must(unstamped.write(8)));
  must(unstamped.wait_for_acknowledgments(kPatience));
  must(stamped.wait_for_acknowledgments(kPatience));
  EXPECT_EQ(values, (std::vector<int>{7, 8}));
}

}  // namespace
}  // namespace tutti::dds
