/// Which times the timing of changes of view leaves out.
#include "sim/delays.hpp"

#include <gtest/gtest.h>

namespace tutti::testing {
namespace {

class DisturbedTimes : public ::testing::Test {
 protected:
  [[nodiscard]] bool at(std::uint64_t ns) const { return times.any_in(ns, ns); }

  sim::Disturbances times;
};

TEST_F(DisturbedTimes, LastAsLongAsWasSaid) {
  times.add(10, 20);
  times.add(15, 30);
  times.add(50, 60);
  EXPECT_FALSE(at(9));
  EXPECT_TRUE(at(10) && at(30) && at(50));
  EXPECT_FALSE(at(31) || at(61));
  EXPECT_TRUE(times.any_in(40, 55)) << "a part is enough";
  times.end(55);
  EXPECT_TRUE(at(55));
  EXPECT_FALSE(at(56));
}

TEST_F(DisturbedTimes, LastWhileAnyIsOpen) {
  times.open(10);
  times.open(20);
  times.close(30);
  EXPECT_TRUE(at(10) && at(30) && at(1'000'000));
  times.end(40);
  EXPECT_TRUE(at(1'000'000)) << "only what was added ends";
  times.close(50);
  EXPECT_TRUE(at(50));
  EXPECT_FALSE(at(51));
}

TEST_F(DisturbedTimes, LastBeyondTheCloseIfMoreWasAdded) {
  times.add(0, 40);
  times.open(10);
  times.close(20);
  EXPECT_TRUE(at(40));
  EXPECT_FALSE(at(41));
  times.open(50);
  times.add(60, 100);
  times.close(70);
  EXPECT_TRUE(at(100));
  EXPECT_FALSE(at(101));
}

TEST_F(DisturbedTimes, EndWithTheCloseIfWhatWasAddedHasEnded) {
  times.open(10);
  times.add(20, 100);
  times.end(30);
  times.close(60);
  EXPECT_TRUE(at(60));
  EXPECT_FALSE(at(61));
}

}  // namespace
}  // namespace tutti::testing
