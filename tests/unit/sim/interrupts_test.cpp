#include "sim/interrupts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/memory.hpp"
#include "sim/row.hpp"

namespace tutti::testing {
namespace {

class InterruptsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kMostNs = 1000;

  // A pass of node 0 that reads a word often. Returns which values it found, if it is not told to
  // end, while another member counts in that word whenever the pass has stopped.
  std::set<std::uint64_t> pass(sim::Interrupts& interrupts) {
    std::set<std::uint64_t> found;
    const sim::Memory memory{&net_, 0};
    stopped_ns_ = 0;
    bool over = interrupts.run(0, [&] {
      for (int i = 0; i < 1000; ++i) found.insert(memory.load(row_.data()));
    });
    for (; !over; over = interrupts.go_on(0)) {
      EXPECT_TRUE(interrupts.in_pass(0));
      stopped_ns_ += interrupts.gap_ns();
      store_cell(row_.data(), ++count_);
    }
    EXPECT_FALSE(interrupts.in_pass(0));
    return found;
  }

  sim::Troubles troubles_{2, 1, 1};
  sim::Net net_{2, 64, 64, {}, 1, troubles_, [](std::uint32_t, std::uint64_t) { return true; }};
  sim::Row row_{64};
  std::uint64_t count_ = 0;
  std::uint64_t stopped_ns_ = 0;
};

TEST_F(InterruptsTest, WhatOthersStoreComesBetweenTwoReads) {
  sim::Interrupts interrupts({.one_in = 1, .most_ns = kMostNs}, 2, net_, 1);
  std::size_t most = 0;
  for (int passes = 0; passes < 100; ++passes) most = std::max(most, pass(interrupts).size());
  EXPECT_GT(most, 2U);
}

TEST_F(InterruptsTest, APassStandsStillForALimitedTime) {
  sim::Interrupts interrupts({.one_in = 1, .most_ns = kMostNs}, 2, net_, 1);
  std::uint64_t most_ns = 0;
  for (int passes = 0; passes < 100; ++passes) {
    pass(interrupts);
    most_ns = std::max(most_ns, stopped_ns_);
    EXPECT_LE(stopped_ns_, kMostNs + 1);
  }
  EXPECT_GT(most_ns, 0U);
}

TEST_F(InterruptsTest, WhoseProcessDiesStoresNoMore) {
  sim::Interrupts interrupts({.one_in = 1, .most_ns = kMostNs}, 2, net_, 1);
  const sim::Memory memory{&net_, 0};
  std::uint64_t value = 0;
  const auto store = [&] {
    while (value < 1000) memory.store(row_.data(), ++value);
  };
  while (interrupts.run(0, store)) value = 0;
  interrupts.drop(0);
  EXPECT_FALSE(interrupts.in_pass(0));
  EXPECT_LT(NativeMemory::load(row_.data()), 1000U);
}

TEST_F(InterruptsTest, OneThatIsToEndStopsNoMore) {
  sim::Interrupts interrupts({.one_in = 1, .most_ns = kMostNs}, 2, net_, 1);
  const sim::Memory memory{&net_, 0};
  std::uint64_t value = 0;
  const auto store = [&] {
    while (value < 1000) memory.store(row_.data(), ++value);
  };
  while (interrupts.run(0, store)) value = 0;
  interrupts.finish(0);
  EXPECT_FALSE(interrupts.in_pass(0));
  EXPECT_EQ(value, 1000U);
}

TEST_F(InterruptsTest, NoPassIsInterruptedUnlessTheOptionsSaySo) {
  sim::Interrupts none({}, 2, net_, 1);
  sim::Interrupts all({.one_in = 1, .most_ns = kMostNs}, 2, net_, 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(none.draw(true));
    EXPECT_TRUE(all.draw(false));
  }
}

}  // namespace
}  // namespace tutti::testing
