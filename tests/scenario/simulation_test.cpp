/// Some seeds of the simulated world, for the sanitizers; `tutti sim` runs thousands.
#include <gtest/gtest.h>

#include "sim/run.hpp"
#include "sim/scenario.hpp"
#include "support/sanitized.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kSimulationSeeds = kSanitized ? 2 : 8;

class Simulation : public ::testing::TestWithParam<std::string> {};

TEST_P(Simulation, SeedsAreGood) {
  const Result<sim::Scenario> scenario = sim::scenario_from(GetParam());
  ASSERT_TRUE(scenario.has_value());
  for (std::uint64_t seed = 1; seed <= kSimulationSeeds; ++seed) {
    sim::Options options = sim::options_from(seed);
    scenario->apply(options);
    const sim::Outcome outcome = sim::run(options);
    EXPECT_EQ(outcome.verdict, sim::Verdict::good)
        << "seed " << seed << ": " << outcome.text << "\n  " << to_string(options);
  }
}

std::string scenario_name(const ::testing::TestParamInfo<std::string>& scenario) {
  std::string name = scenario.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Simulation,
                         ::testing::Values("swarm", "crash", "zombie", "partition", "join-storm",
                                           "leave", "between"),
                         scenario_name);

// Both members that give the state to the fifth one die: three of five are left, and go on.
TEST(SimulationOrphans, VoteBeforeTheyGo) {
  const Result<sim::Scenario> orphans = sim::scenario_from("orphans");
  ASSERT_TRUE(orphans.has_value());
  for (std::uint64_t seed = 1; seed <= kSimulationSeeds; ++seed) {
    sim::Options options = sim::options_from(seed);
    orphans->apply(options);
    const sim::Outcome outcome = sim::run(options);
    EXPECT_EQ(outcome.verdict, sim::Verdict::good) << "seed " << seed << ": " << outcome.text;
    EXPECT_NE(outcome.views, 0U) << "seed " << seed << ": all had to stop";
  }
}

TEST(SimulationDeterminism, TheSameSeedIsTheSameRun) {
  for (std::uint64_t seed = 1; seed <= kSimulationSeeds / 2; ++seed) {
    const sim::Options options = sim::options_from(seed);
    const sim::Outcome first = sim::run(options);
    const sim::Outcome second = sim::run(options);
    EXPECT_EQ(first.hash, second.hash);
    EXPECT_EQ(first.passes, second.passes);
  }
  EXPECT_NE(sim::run(sim::options_from(1)).hash, sim::run(sim::options_from(2)).hash);
}

TEST(SimulationDeterminism, WhereAPassIsInterruptedIsDrawnFromTheSeed) {
  const Result<sim::Scenario> between = sim::scenario_from("between");
  ASSERT_TRUE(between.has_value());
  for (std::uint64_t seed = 1; seed <= (kSimulationSeeds + 2) / 4; ++seed) {
    sim::Options options = sim::options_from(seed);
    between->apply(options);
    const std::uint64_t hash = sim::run(options).hash;
    EXPECT_EQ(sim::run(options).hash, hash);
    options.interrupts = {};
    EXPECT_NE(sim::run(options).hash, hash);
  }
}

TEST(SimulationScenario, ThatIsUnknownIsRefusedWithTheKnownOnes) {
  const Result<sim::Scenario> scenario = sim::scenario_from("flood");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_NE(scenario.error().message.find("join-storm"), std::string::npos);
}

}  // namespace
}  // namespace tutti::testing
