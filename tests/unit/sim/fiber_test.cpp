#include "sim/fiber.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tutti::testing {
namespace {

using sim::Fiber;

TEST(Fiber, GoesOnWhereItHasStopped) {
  Fiber fiber;
  std::string said;
  fiber.start([&] {
    said += 'a';
    fiber.stop();
    said += 'c';
  });
  EXPECT_TRUE(fiber.under_way());
  said += 'b';
  fiber.resume();
  EXPECT_FALSE(fiber.under_way());
  EXPECT_EQ(said, "abc");
}

TEST(Fiber, RunsOneFunctionAfterTheOther) {
  Fiber fiber;
  std::vector<int> numbers;
  for (int number = 0; number < 100; ++number) {
    fiber.start([&numbers, number] { numbers.push_back(number); });
    EXPECT_FALSE(fiber.under_way());
  }
  EXPECT_EQ(numbers.size(), 100U);
}

TEST(Fiber, OthersRunWhileOneHasStopped) {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::string said;
  for (char letter = 'a'; letter < 'd'; ++letter) {
    Fiber& fiber = *fibers.emplace_back(std::make_unique<Fiber>());
    fiber.start([&fiber, &said, letter] {
      for (int round = 0; round < 2; ++round) {
        said += letter;
        fiber.stop();
      }
    });
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& fiber : fibers) fiber->resume();
  }
  EXPECT_EQ(said, "abcabc");
  for (const auto& fiber : fibers) EXPECT_FALSE(fiber->under_way());
}

TEST(Fiber, WhatDoesNotGoOnLeaksNothing) {
  const auto held = std::make_shared<int>(1);
  Fiber fiber;
  bool went_on = false;
  fiber.start([&fiber, &went_on, held] {
    const std::vector<std::shared_ptr<int>> more(10, held);
    fiber.stop();
    went_on = true;
  });
  EXPECT_EQ(held.use_count(), 12);
  fiber.unwind();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(went_on);
  EXPECT_FALSE(fiber.under_way());
  fiber.start([&went_on] { went_on = true; });
  EXPECT_TRUE(went_on);
}

TEST(Fiber, ThatIsDestroyedUnwindsItsFunction) {
  const auto held = std::make_shared<int>(1);
  {
    Fiber fiber;
    fiber.start([&fiber, held] { fiber.stop(); });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace tutti::testing
