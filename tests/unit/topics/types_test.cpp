/// \file types_test.cpp
/// Samples that are encoded, and topics whose samples have keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "domain.hpp"
#include "tutti/dds/fields.hpp"

namespace tutti::dds {
namespace {

struct Named {
  std::string name;
  std::vector<std::uint32_t> values;
};
TUTTI_FIELDS(Named, name, values);

struct Quote {
  std::uint32_t symbol;
  double price;
};
TUTTI_FIELDS(Quote, symbol, price);
TUTTI_OPTIONS(Quote, .keys = {"symbol"});

struct alignas(64) Wide {
  std::uint8_t bytes[64];
};

TEST(TopicTypes, WhatIsNotTriviallyCopyableIsEncodedAndDecoded) {
  TestDomain domain({.participants = 2});
  domain.start();
  const auto topic = must(Topic<Named>::create(domain[0], "named"));
  const auto theirs = must(Topic<Named>::create(domain[1], "named"));
  auto reader = must(DataReader<Named>::create(theirs));
  std::vector<std::string> called;
  auto caller = must(DataReader<Named>::create(
      topic, {}, {.on_sample = [&](const Named& sample, const SampleInfo& info) {
        EXPECT_TRUE(info.valid);
        called.push_back(sample.name);
      }}));
  auto writer = must(DataWriter<Named>::create(topic));
  static_cast<void>(must(writer.write({"one", {1}})));
  static_cast<void>(must(writer.write({"two", {1, 2}})));
  must(writer.wait_for_acknowledgments(kPatience));
  std::vector<Named> seen;
  while (seen.size() < 2) {
    must(reader.wait(kPatience));
    for (const auto& sample : must(reader.take())) {
      EXPECT_TRUE(sample.info().valid);
      seen.push_back(sample.data());
    }
  }
  EXPECT_EQ(seen[0].name, "one");
  EXPECT_EQ(seen[1].values, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(called, (std::vector<std::string>{"one", "two"}));
}

TEST(TopicTypes, BytesThatAreNoValueComeAsInvalid) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic = must(Topic<Named>::create(domain[0], "named"));
  auto reader = must(DataReader<Named>::create(topic));
  auto writer = must(UntypedWriter::create(topic.untyped()));
  const std::vector<std::byte> rubbish(40, std::byte{0xff});
  must(writer.wait(must(writer.write(rubbish)), kPatience));
  const auto taken = must(reader.take());
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_FALSE(taken[0].info().valid);
  EXPECT_EQ(taken[0].data().name, "");
}

TEST(TopicTypes, AStoredTopicKeepsTheNewestOfEachKey) {
  TestDomain domain({.participants = 1});
  domain.start();
  const auto topic =
      must(Topic<Quote>::create(domain[0], "quotes", {.service = Service::volatile_storage}));
  auto writer = must(DataWriter<Quote>::create(topic));
  for (int round = 0; round < 5; ++round) {
    for (std::uint32_t symbol = 0; symbol < 4; ++symbol) {
      auto loan = must(writer.loan());
      *loan = {.symbol = symbol, .price = round * 10.0 + symbol};
      static_cast<void>(must(writer.write(std::move(loan))));
    }
  }
  must(writer.wait_for_acknowledgments(kPatience));
  auto reader = must(DataReader<Quote>::create(topic, {.from = kFromStored}));
  std::map<std::uint32_t, double> last;
  for (const auto& sample : must(reader.take())) {
    EXPECT_TRUE(last.emplace(sample.data().symbol, sample.data().price).second);
  }
  EXPECT_EQ(last, (std::map<std::uint32_t, double>{{0, 40}, {1, 41}, {2, 42}, {3, 43}}));
}

TEST(TopicTypes, ATypeOfALargeAlignmentNeedsABundleOfIt) {
  ParticipantOptions options;
  options.bundles = {{.name = "narrow"}, {.name = "wide", .alignment = 64}};
  TestDomain domain({.participants = 1, .participant = options});
  domain.start();
  const auto refused = Topic<Wide>::create(domain[0], "wide");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("BundleOptions::alignment"));
  const auto topic = must(Topic<Wide>::create(domain[0], "wide", {.bundle = "wide"}));
  auto taker = must(DataReader<Wide>::create(topic));
  bool aligned = false;
  auto caller = must(DataReader<Wide>::create(
      topic, {}, {.on_sample = [&](const Wide& sample, const SampleInfo&) {
        aligned = reinterpret_cast<std::uintptr_t>(&sample) % 64 == 0 && sample.bytes[63] == 9;
      }}));
  auto writer = must(DataWriter<Wide>::create(topic));
  auto loan = must(writer.loan());
  loan->bytes[63] = 9;
  must(writer.wait(must(writer.write(std::move(loan))), kPatience));
  EXPECT_TRUE(aligned);
  const auto taken = must(taker.take());
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&taken[0].data()) % 64, 0U);
  EXPECT_EQ(taken[0].data().bytes[63], 9);
}

}  // namespace
}  // namespace tutti::dds
