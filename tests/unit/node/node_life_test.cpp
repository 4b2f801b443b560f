#include "node/node_life.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tutti {
namespace {

TEST(NodeLife, GoesFromItsStartIntoAViewAndOut) {
  NodeLife life;
  EXPECT_FALSE(life.is_open());
  life.set_phase(Phase::running);
  EXPECT_TRUE(life.is_open());
  EXPECT_FALSE(life.in_view());
  life.set_course(Course::entered);
  EXPECT_TRUE(life.in_view());
  life.set_course(Course::told);
  life.set_course(Course::said_all);
  EXPECT_FALSE(life.ends());
  life.set_phase(Phase::closing);
  EXPECT_TRUE(life.ends());
  EXPECT_TRUE(life.is_open()) << "its threads turn until nobody reads any more";
  life.set_phase(Phase::stopped);
  EXPECT_FALSE(life.is_open());
  EXPECT_TRUE(life.ends());
}

TEST(NodeLife, AStartIsTriedAgainOnlyIfNobodyClosedIt) {
  NodeLife life;
  life.set_phase(Phase::running);
  life.set_course(Course::unfounded);
  life.set_phase(Phase::quitting);
  life.set_phase(Phase::tried);
  EXPECT_FALSE(life.is_open());
  life.set_course(Course::outside);
  life.set_phase(Phase::running);
  life.set_phase(Phase::closing);
  EXPECT_FALSE(life.try_phase(Phase::quitting));
  EXPECT_FALSE(life.try_phase(Phase::tried));
  EXPECT_TRUE(life.try_phase(Phase::stopped));
  EXPECT_FALSE(life.try_phase(Phase::running)) << "for good";
}

TEST(NodeLife, OfThreadsThatEndANodeAtOnceOneDoes) {
  for (int round = 0; round < 100; ++round) {
    NodeLife life;
    life.set_phase(Phase::running);
    std::atomic<int> first{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { first += life.try_phase(Phase::closing) ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(first, 1);
    EXPECT_EQ(life.phase(), Phase::closing);
  }
}

TEST(NodeLife, T5EveryOtherWayIsABrokenInvariant) {
  NodeLife life;
  EXPECT_DEATH(life.set_phase(Phase::closing), "broken invariant");
  EXPECT_DEATH(life.set_course(Course::told), "broken invariant");
  life.set_course(Course::entered);
  EXPECT_DEATH(life.set_course(Course::unfounded), "broken invariant");
}

}  // namespace
}  // namespace tutti
