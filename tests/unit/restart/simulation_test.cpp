// Thousands of small worlds, each from a seed. TUTTI_RESTART_SEEDS says how many, and
// TUTTI_RESTART_FIRST which is the first; a seed that failed prints its story.
#include <gtest/gtest.h>

#include <string>

#include "support/from_environment.hpp"
#include "support/sanitized.hpp"
#include "unit/restart/world.hpp"

namespace tutti::restart::testing {
namespace {

constexpr std::uint64_t kSeedsByDefault = tutti::testing::kSanitized ? 100 : 2000;

TEST(RestartSimulation, EveryPropertyHoldsForEverySeed) {
  const std::uint64_t first = tutti::testing::from_environment("TUTTI_RESTART_FIRST", 1);
  const std::uint64_t seeds =
      tutti::testing::from_environment("TUTTI_RESTART_SEEDS", kSeedsByDefault);
  std::size_t restarts = 0;
  std::size_t adoptions = 0;
  std::size_t records = 0;
  std::size_t views = 0;
  std::size_t joins = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    World world(seed, Mistake::none);
    world.run();
    if (!world.wrong().empty()) {
      World again(seed, Mistake::none, true);
      again.run();
      FAIL() << "seed " << seed << ": " << world.wrong() << "\n" << again.story();
    }
    restarts += world.restarts();
    adoptions += world.adoptions();
    views += world.views_decided();
    joins += world.joins();
    records += world.records_sent();
  }
  // The worlds are worth something only if all this happens in them.
  if (seeds >= 1000) {
    EXPECT_GT(restarts, seeds);
    EXPECT_GT(adoptions, seeds / 10);
    EXPECT_GT(joins, seeds / 20);
    EXPECT_GT(records, seeds);
  }
  std::printf("%zu views, %zu restarts, %zu adoptions, %zu joins, %zu records sent\n", views,
              restarts, adoptions, joins, records);
}

// A mistake, and a seed not long before one that shows it: few worlds show some of them. If the
// worlds change, look for another seed from 1 on.
struct Planted {
  Mistake mistake;
  std::uint64_t first = 1;
};

class RestartMistakes : public ::testing::TestWithParam<Planted> {};

TEST_P(RestartMistakes, IsFoundInFewSeeds) {
  constexpr std::uint64_t kSeeds = 400;
  std::string found;
  const std::uint64_t first = GetParam().first;
  for (std::uint64_t seed = first; seed < first + kSeeds && found.empty(); ++seed) {
    World world(seed, GetParam().mistake);
    world.run();
    found = world.wrong();
    if (found.empty()) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), found.c_str());
  }
  EXPECT_NE(found, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, RestartMistakes,
    ::testing::Values(Planted{Mistake::accepts_unsynced}, Planted{Mistake::persisted_unsynced},
                      Planted{Mistake::keeps_tail}, Planted{Mistake::installed_unsynced},
                      Planted{Mistake::confirms_received, 3201}, Planted{Mistake::logs_unstable},
                      Planted{Mistake::lost_disk_votes}));

}  // namespace
}  // namespace tutti::restart::testing
