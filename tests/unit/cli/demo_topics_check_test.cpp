/// \file demo_topics_check_test.cpp
/// What `tutti demo --topics` accepts, and which mistakes of members it would notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/demo_topics/check.hpp"

namespace tutti::cli {
namespace {

using ::testing::HasSubstr;
using Sequence = std::vector<SeenSample>;

constexpr std::size_t kOrdered[] = {1, 2, 3};
constexpr std::uint32_t kCount = 30;

/// a, b and c in turn, with the numbers 0, 0, 0, 1, 1, 1 ...
Sequence all_of() {
  Sequence whole;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    whole.push_back({.position = 2ULL * i, .sample = {.writer = i % 3, .number = i / 3}});
  }
  return whole;
}

/// Everybody saw what it should: b the first third, late the last one of what is not kept.
std::vector<Seen> good() {
  std::vector<Seen> all(kDemoWriters.size());
  const Sequence whole = all_of();
  const Sequence first(whole.begin(), whole.begin() + 10);
  const Sequence last(whole.begin() + 20, whole.end());
  for (std::size_t topic = 0; topic < kDemoTopics.size(); ++topic) {
    const bool is_kept = topic == kDemoStored || topic == kDemoLogged;
    all[0].samples[topic] = all[2].samples[topic] = whole;
    all[kDemoKilled].samples[topic] = first;
    all[kDemoLate].samples[topic] = is_kept ? whole : last;
    if (is_kept) all[kDemoClient].samples[topic] = whole;
  }
  for (const std::size_t topic : kOrdered) {
    for (std::size_t who = 0; who < 3; ++who) all[who].acknowledged[topic] = 9;
  }
  return all;
}

std::string why(const std::vector<Seen>& all) {
  const Result<std::string> checked = check_seen(all);
  return checked ? "" : checked.error().message;
}

TEST(DemoTopicsCheck, AcceptsWhatHolds) { EXPECT_EQ(why(good()), ""); }

TEST(DemoTopicsCheck, NoticesAnotherOrder) {
  for (const std::size_t topic : kOrdered) {
    std::vector<Seen> all = good();
    std::swap(all[2].samples[topic][4].sample, all[2].samples[topic][5].sample);
    EXPECT_THAT(why(all), HasSubstr("reader c: it saw sample 1 of c at position 8 where a saw"));
  }
}

TEST(DemoTopicsCheck, NoticesAnotherPosition) {
  std::vector<Seen> all = good();
  ++all[kDemoKilled].samples[1][7].position;
  EXPECT_THAT(why(all), HasSubstr("reader b"));
}

TEST(DemoTopicsCheck, NoticesAReaderThatStops) {
  std::vector<Seen> all = good();
  all[2].samples[kDemoLogged].pop_back();
  EXPECT_THAT(why(all), HasSubstr("reader c: it saw 29 samples, and a 30"));
}

TEST(DemoTopicsCheck, NoticesAGap) {
  std::vector<Seen> all = good();
  for (Seen& each : all)
    std::erase_if(each.samples[1], [](const SeenSample& seen) {
      return seen.sample.writer == 1 && seen.sample.number == 2;
    });
  EXPECT_THAT(why(all), HasSubstr("number 2 is due"));
}

TEST(DemoTopicsCheck, NoticesASampleThatCameTwice) {
  std::vector<Seen> all = good();
  for (const std::size_t who : {0, 2}) all[who].samples[1].push_back(all[who].samples[1].back());
  all[kDemoLate].samples[1].push_back(all[0].samples[1].back());
  EXPECT_THAT(why(all), HasSubstr("number 10 is due"));
}

TEST(DemoTopicsCheck, NoticesALostSampleThatWasAcknowledged) {
  std::vector<Seen> all = good();
  all[kDemoKilled].acknowledged[kDemoLogged] = 10;
  EXPECT_THAT(why(all), HasSubstr("sample 10 of b was acknowledged, and is not there"));
}

TEST(DemoTopicsCheck, NoticesThatALateReaderLacksWhatIsKept) {
  for (const std::size_t topic : {kDemoStored, kDemoLogged}) {
    for (const std::size_t who : {kDemoLate, kDemoClient}) {
      std::vector<Seen> all = good();
      all[who].samples[topic].erase(all[who].samples[topic].begin());
      EXPECT_THAT(why(all), HasSubstr(": it saw 29 samples, and not the 30"));
    }
  }
}

TEST(DemoTopicsCheck, NoticesAnUnorderedWriterOutOfOrder) {
  std::vector<Seen> all = good();
  std::swap(all[kDemoLate].samples[kDemoUnordered][1], all[kDemoLate].samples[kDemoUnordered][4]);
  EXPECT_THAT(why(all), HasSubstr("topic unordered, reader late"));
}

}  // namespace
}  // namespace tutti::cli
