/// \file options_test.cpp
/// The options of topics as text: what is meant is understood, and what has no meaning here is
/// refused by name, with what to use instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tutti/dds/options.hpp"

namespace tutti::dds {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
  const Result<TopicOptions> read = TopicOptions::from_text(text);
  return read ? "no error" : read.error().message;
}

TEST(TopicOptions, TextIsReadAndWritten) {
  const Result<TopicOptions> read = TopicOptions::from_text(
      "service=stored,history=keep_last(10),max_samples=50,max_bytes=4096,max_age=20s,bundle=b");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (TopicOptions{.service = Service::volatile_storage,
                                 .bundle = "b",
                                 .history = keep_last(10),
                                 .max_samples = 50,
                                 .max_bytes = 4096,
                                 .max_age = 20s}));
  for (const TopicOptions& options :
       {*read, TopicOptions{}, TopicOptions{.history = keep_all(), .max_age = 24000h}}) {
    const Result<TopicOptions> again = TopicOptions::from_text(options.to_text());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, options);
  }
  EXPECT_EQ(TopicOptions::from_text("").value(), TopicOptions{});
}

TEST(TopicOptions, PoliciesOfDdsThatHaveNoMeaningHereAreRefusedByName) {
  EXPECT_THAT(error_of("deadline=10ms"), HasSubstr("source_timestamp"));
  EXPECT_THAT(error_of("history=keep_last(10),lifespan=1s"), HasSubstr("max_age"));
  EXPECT_THAT(error_of("time_based_filter=1s"), HasSubstr("keep_last(1)"));
  EXPECT_THAT(error_of("partition=x"), HasSubstr("name"));
  EXPECT_THAT(error_of("presentation=group"), HasSubstr("bundle"));
  EXPECT_THAT(error_of("content_filter=x>1"), HasSubstr("filter in the reader"));
  EXPECT_THAT(error_of("dispose"), HasSubstr("life cycle"));
  EXPECT_THAT(error_of("durability=transient"), HasSubstr("stored is TRANSIENT"));
  EXPECT_THAT(error_of("service=volatile"), HasSubstr("two things"));
}

TEST(TopicOptions, WhatIsWrongIsNamed) {
  EXPECT_THAT(error_of("colour=red"), HasSubstr("'colour' is no option"));
  EXPECT_THAT(error_of("history"), HasSubstr("history"));
  EXPECT_THAT(error_of("history=keep_last(x)"), HasSubstr("take a number"));
  EXPECT_THAT(error_of("history=keep_last(0)"), HasSubstr("1 .. 1000000"));
  EXPECT_THAT(error_of("history=keep_last("), HasSubstr("keep_last(DEPTH)"));
  EXPECT_THAT(error_of("max_samples=-1"), HasSubstr("take a number"));
  EXPECT_THAT(error_of("max_samples=0"), HasSubstr("1 .. 10000000"));
  EXPECT_THAT(error_of("max_bytes=5"), HasSubstr("1 KiB"));
  EXPECT_THAT(error_of("max_age=5"), HasSubstr("unit"));
  EXPECT_THAT(error_of("max_age=9223372036854775807h"), HasSubstr("max_age"));
  EXPECT_THAT(error_of("service=loud"), HasSubstr("unordered, atomic, stored, logged"));
  EXPECT_THAT(error_of("service=logged,history=keep_last(3)"), HasSubstr("log"));
}

TEST(ParticipantOptions, WhatIsWrongIsNamed) {
  const auto refusal = [](const ParticipantOptions& options) {
    const Result<void> valid = options.validate();
    return valid ? "no error" : valid.error().message;
  };
  EXPECT_EQ(refusal({}), "no error");
  EXPECT_EQ(refusal({.bundles = default_bundles(true)}), "no error");
  EXPECT_THAT(refusal({.topics_max = 0}), HasSubstr("topics_max"));
  EXPECT_THAT(refusal({.timeout = 0s}), HasSubstr("timeout"));
  EXPECT_THAT(refusal({.bundles = {{.name = "a"}, {.name = "a"}}}), HasSubstr("two bundles"));
  EXPECT_THAT(refusal({.bundles = {{.name = ""}}}), HasSubstr("name"));
  EXPECT_THAT(refusal({.bundles = {{.name = "a", .order = Order::none}}}), HasSubstr("order"));
  EXPECT_THAT(refusal({.bundles = {{.name = "a", .delivery = DeliveryThread::application}}}),
              HasSubstr("predicate or own"));
}

}  // namespace
}  // namespace tutti::dds
