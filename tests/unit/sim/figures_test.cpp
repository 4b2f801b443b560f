// Figures come from simulated time, so they are the same on every machine.
#include "sim/figure/figures.hpp"

#include <gtest/gtest.h>

namespace tutti::sim {
namespace {

LoadFigures at_load(LoadOptions options, std::uint64_t megabits) {
  options.offered_megabits = megabits;
  options.measured_ns = 30'000'000;
  return measure(options);
}

// [Accelerated Ring, IV-A1]: more throughput and less latency at the same time.
TEST(AcceleratedRing, CarriesMoreAndIsFasterAtOneGigabit) {
  for (const Level level : {Level::agreed, Level::atomic}) {
    const LoadFigures original = at_load(gigabit_ring(level, Ring::original), 550);
    const LoadFigures accelerated = at_load(gigabit_ring(level, Ring::accelerated), 800);
    EXPECT_TRUE(original.kept_up && accelerated.kept_up);
    const double most = level == Level::agreed ? 0.55 : 0.58;
    EXPECT_LE(accelerated.latency_us, most * original.latency_us) << to_string(level);
  }
}

TEST(AcceleratedRing, GoesOnWhereTheOriginalRingHasReachedItsLimit) {
  EXPECT_FALSE(at_load(gigabit_ring(Level::agreed, Ring::original), 800).kept_up);
  EXPECT_TRUE(at_load(gigabit_ring(Level::agreed, Ring::accelerated), 900).kept_up);
}

// [Accelerated Ring, IV-A2, figure 8]: raising aru may take a rotation more.
TEST(AcceleratedRing, IsLaterThanTheOriginalAtSafeAndALowLoad) {
  const LoadFigures original = at_load(ten_gigabit_ring(Level::atomic, Ring::original), 500);
  const LoadFigures accelerated = at_load(ten_gigabit_ring(Level::atomic, Ring::accelerated), 500);
  EXPECT_GT(accelerated.latency_us, 1.1 * original.latency_us);
}

// [LCR, 5.1]: one sender reaches its link's rate, whatever the number of members. Of 10 Gbit/s,
// frames leave 9.36 for payload.
TEST(Links, OneSenderReachesItsLinksRateWithLcr) {
  EXPECT_GT(measure(on_links(Order::lcr, 5, 1)).megabits, 0.95 * 9'360);
  const double direct = measure(on_links(Order::round_robin, 5, 1)).megabits;
  EXPECT_LT(direct, 9'360 / 4.0);
  EXPECT_GT(direct, 0.95 * 9'360 / 4);
}

// Each member's link carries everything but its own messages.
TEST(Links, NoOrderDeliversMoreThanTheLinksCarry) {
  for (const Order order : {Order::round_robin, Order::token_ring, Order::lcr}) {
    for (const std::uint32_t nodes : {3U, 5U}) {
      const double most = 9'360.0 * nodes / (nodes - 1);
      const double megabits = measure(on_links(order, nodes, nodes)).megabits;
      EXPECT_LT(megabits, 1.005 * most) << to_string(order) << ' ' << nodes;
      EXPECT_GT(megabits, 0.6 * most) << to_string(order) << ' ' << nodes;
    }
  }
}

TEST(Figures, AreFoundByName) {
  ASSERT_TRUE(figure_from("links"));
  EXPECT_EQ((*figure_from("links"))->name, "links");
  const auto none = figure_from("nonsense");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "there is no figure 'nonsense'; there are: accelerated_ring, links");
}

TEST(Load, TheSameOptionsGiveTheSameFigures) {
  const LoadFigures one = at_load(gigabit_ring(Level::agreed, Ring::accelerated), 300);
  const LoadFigures other = at_load(gigabit_ring(Level::agreed, Ring::accelerated), 300);
  EXPECT_EQ(one.megabits, other.megabits);
  EXPECT_EQ(one.latency_us, other.latency_us);
}

}  // namespace
}  // namespace tutti::sim
