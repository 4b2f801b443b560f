// Thousands of small worlds, each from a seed. TUTTI_RELAY_SEEDS says how many, and
// TUTTI_RELAY_FIRST which is the first.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "support/from_environment.hpp"
#include "support/sanitized.hpp"
#include "unit/relay/world.hpp"

namespace tutti::relay::testing {
namespace {

constexpr std::uint64_t kSeedsByDefault = tutti::testing::kSanitized ? 20 : 300;

TEST(RelaySimulation, EveryPropertyHoldsForEverySeed) {
  const std::uint64_t first = tutti::testing::from_environment("TUTTI_RELAY_FIRST", 1);
  const std::uint64_t seeds =
      tutti::testing::from_environment("TUTTI_RELAY_SEEDS", kSeedsByDefault);
  World::Counts all;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    World world(seed, Mistake::none);
    world.run();
    ASSERT_EQ(world.wrong(), "") << "seed " << seed << "\n" << world.story();
    const World::Counts& one = world.counts();
    all.delivered += one.delivered;
    all.duplicates += one.duplicates;
    all.went_back += one.went_back;
    all.expired += one.expired;
    all.gaps += one.gaps;
    all.samples += one.samples;
    all.crashes += one.crashes;
    all.restarts += one.restarts;
    all.full += one.full;
    all.no_space += one.no_space;
    all.unknown += one.unknown;
    all.not_yet += one.not_yet;
    all.released += one.released;
    all.created += one.created;
    all.refused += one.refused;
  }
  std::printf(
      "%zu delivered, %zu answers to repeats, %zu out of turn, %zu sessions expired, %zu gaps, "
      "%zu samples taken, %zu crashes, %zu restarts, %zu without room, %zu without space, %zu "
      "unknown, %zu asked too early, %zu topics deleted, %zu created again, %zu refused\n",
      all.delivered, all.duplicates, all.went_back, all.expired, all.gaps, all.samples, all.crashes,
      all.restarts, all.full, all.no_space, all.unknown, all.not_yet, all.released, all.created,
      all.refused);
  // The worlds are worth something only if all this happens in them.
  if (seeds < 300) return;
  EXPECT_GT(all.delivered, 20 * seeds);
  EXPECT_GT(all.duplicates, seeds);
  EXPECT_GT(all.went_back, seeds);
  EXPECT_GT(all.expired, seeds);
  EXPECT_GT(all.gaps, seeds);
  EXPECT_GT(all.samples, 20 * seeds);
  EXPECT_GT(all.crashes, seeds);
  EXPECT_GT(all.restarts, seeds);
  EXPECT_GT(all.full, seeds / 10);
  EXPECT_GT(all.no_space, seeds);
  EXPECT_GT(all.unknown, seeds / 10);
  EXPECT_GT(all.not_yet, 10 * seeds);
  EXPECT_GT(all.released, seeds / 2);
  EXPECT_GT(all.created, seeds / 4);
  EXPECT_GT(all.refused, seeds);
}

class RelayMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(RelayMistakes, IsFoundInFewSeeds) {
  const std::uint64_t first = tutti::testing::from_environment("TUTTI_RELAY_FIRST", 1);
  const std::uint64_t seeds = tutti::testing::from_environment("TUTTI_RELAY_SEEDS", 300);
  std::string found;
  for (std::uint64_t seed = first; seed < first + seeds && found.empty(); ++seed) {
    World world(seed, GetParam());
    world.run();
    found = world.wrong();
    if (found.empty()) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), found.c_str());
  }
  EXPECT_NE(found, "");
}

using enum Mistake;
INSTANTIATE_TEST_SUITE_P(All, RelayMistakes,
                         ::testing::Values(table_not_in_state, history_not_in_state,
                                           replay_skips_expiry, expiry_by_clock,
                                           ack_before_delivery, higher_delivered,
                                           duplicate_delivered, expired_taken_as_new,
                                           duplicate_misplaced, ack_of_another, resume_off_by_one,
                                           gap_not_told, go_back_ignored, credit_ignored,
                                           not_yet_means_gone, never_asked_again, delivered_refused,
                                           dropped_delivered, deleted_not_in_state));

}  // namespace
}  // namespace tutti::relay::testing
