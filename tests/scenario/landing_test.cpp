/// The worlds find what they are for: with a fault planted in the wires they must see it.
#include <gtest/gtest.h>

#include "support/schedule.hpp"

namespace tutti::testing {
namespace {

// Guard before data on the wire: members read rings before their contents have landed.
TEST(PlantedFaults, AGuardThatOvertakesItsDataIsFound) {
  for (const Level level : {Level::atomic, Level::agreed, Level::unordered}) {
    std::uint64_t found = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const std::string findings =
          run_to_the_end({.seed = seed,
                          .nodes = 3,
                          .groups = {small_group("g", "abc", "abc", level)},
                          .wires = Wires::landing,
                          .guard_first = true},
                         {.passes_max = 1000});
      if (findings.find("D1") != std::string::npos) ++found;
    }
    EXPECT_GE(found, 8U);
  }
}

TEST(PlantedFaults, NothingIsFoundWithoutThem) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ASSERT_EQ(run_to_the_end({.seed = seed,
                              .nodes = 3,
                              .groups = {small_group("g", "abc", "abc")},
                              .wires = Wires::landing}),
              "");
  }
}

}  // namespace
}  // namespace tutti::testing
