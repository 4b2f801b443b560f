// Thousands of small worlds, each from a seed. TUTTI_RESTART_SEEDS says how many, and
// TUTTI_RESTART_FIRST which is the first; a seed that failed prints its story.
#include <gtest/gtest.h>

#include <string>

#include "support/from_environment.hpp"
#include "support/sanitized.hpp"
#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {
namespace {

constexpr std::uint64_t kSeedsUsually = tutti::testing::kSanitized ? 40 : 1000;

void every_property_holds(bool snapshots) {
  const std::uint64_t first = tutti::testing::from_environment("TUTTI_RESTART_FIRST", 1);
  const std::uint64_t seeds =
      tutti::testing::from_environment("TUTTI_RESTART_SEEDS", kSeedsUsually);
  RecoveryWorld::Counts all;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    RecoveryWorld world(seed, RecoveryMistake::none, false, snapshots);
    world.run();
    if (!world.wrong().empty()) {
      RecoveryWorld again(seed, RecoveryMistake::none, true, snapshots);
      again.run();
      FAIL() << "seed " << seed << ": " << world.wrong() << "\n" << again.story();
    }
    const RecoveryWorld::Counts counts = world.counts();
    all.views += counts.views;
    all.restarts += counts.restarts;
    all.adoptions += counts.adoptions;
    all.joins += counts.joins;
    all.records_sent += counts.records_sent;
    all.vain += counts.vain;
    all.foundings += counts.foundings;
    all.errors += counts.errors;
    all.stuck += counts.stuck;
    all.failed_disks += counts.failed_disks;
    all.damaged += counts.damaged;
    all.put_back += counts.put_back;
    all.noticed += counts.noticed;
    all.snapshots += counts.snapshots;
    all.released += counts.released;
    all.fetched += counts.fetched;
  }
  std::printf(
      "%zu views, %zu restarts, %zu adoptions, %zu joins, %zu records sent, %zu in vain, %zu "
      "foundings taken over, %zu errors, %zu without enough disks, %zu older copies, %zu noticed, "
      "%zu disks failed, %zu damaged, %zu snapshots, %zu records released, %zu snapshots fetched\n",
      all.views, all.restarts, all.adoptions, all.joins, all.records_sent, all.vain, all.foundings,
      all.errors, all.stuck, all.put_back, all.noticed, all.failed_disks, all.damaged,
      all.snapshots, all.released, all.fetched);
  // The worlds are worth something only if all this happens in them.
  if (seeds < 1000) return;
  EXPECT_GT(all.restarts, 3 * seeds);
  EXPECT_GT(all.adoptions, seeds / 4);
  EXPECT_GT(all.joins, seeds / 2);
  EXPECT_GT(all.records_sent, 5 * seeds);
  EXPECT_GT(all.vain, seeds / 4);
  EXPECT_GT(all.foundings, 2 * seeds);
  EXPECT_GT(all.errors, seeds / 200);
  EXPECT_LT(all.stuck, 3 * seeds / 10);
  EXPECT_GT(all.noticed, seeds / 6);
  EXPECT_GT(all.failed_disks, seeds / 2);
  EXPECT_GT(all.damaged, seeds / 50);
  if (!snapshots) return;
  EXPECT_GT(all.snapshots, 2 * seeds);
  EXPECT_GT(all.released, 2 * seeds);
  EXPECT_GT(all.fetched, seeds / 50);
}

TEST(RecoverySimulation, EveryPropertyHoldsForEverySeed) { every_property_holds(false); }

TEST(RecoverySimulation, EveryPropertyHoldsWithSnapshots) { every_property_holds(true); }

// A mistake, and a seed not long before one that shows it: few worlds show some of them. If the
// worlds change, look for another seed from 1 on.
struct PlantedInRecovery {
  RecoveryMistake mistake;
  std::uint64_t first = 1;
  bool snapshots = false;
};

class RecoveryMistakes : public ::testing::TestWithParam<PlantedInRecovery> {};

TEST_P(RecoveryMistakes, IsFoundInFewSeeds) {
  const std::uint64_t seeds = tutti::testing::from_environment("TUTTI_RESTART_SEEDS", 200);
  std::string found;
  const std::uint64_t first =
      tutti::testing::from_environment("TUTTI_RESTART_FIRST", GetParam().first);
  for (std::uint64_t seed = first; seed < first + seeds && found.empty(); ++seed) {
    RecoveryWorld world(seed, GetParam().mistake, seeds == 1, GetParam().snapshots);
    world.run();
    found = world.wrong();
    if (seeds == 1) std::printf("%s", world.story().c_str());
    if (found.empty()) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), found.c_str());
  }
  EXPECT_NE(found, "");
}

using enum RecoveryMistake;
INSTANTIATE_TEST_SUITE_P(
    All, RecoveryMistakes,
    ::testing::Values(
        PlantedInRecovery{adopts_while_away}, PlantedInRecovery{adopts_beyond_first},
        PlantedInRecovery{lost_disk_votes}, PlantedInRecovery{keeps_tail, 601},
        PlantedInRecovery{counts_before_whole, 3401}, PlantedInRecovery{installs_unsaved},
        PlantedInRecovery{accepts_unsaved}, PlantedInRecovery{promises_unsaved},
        PlantedInRecovery{forgets_promise, 45201}, PlantedInRecovery{may_join_unsaved},
        PlantedInRecovery{not_held_back, 1001}, PlantedInRecovery{ignores_vain},
        PlantedInRecovery{promises_while_running}, PlantedInRecovery{counts_older_copy},
        PlantedInRecovery{older_copy_not_told}, PlantedInRecovery{forgets_heard},
        PlantedInRecovery{tells_next_edition}, PlantedInRecovery{durable_by_less},
        PlantedInRecovery{ignores_failed_write}, PlantedInRecovery{opens_failed_log},
        PlantedInRecovery{cuts_at_damage, 101}, PlantedInRecovery{snapshot_not_durable, 1, true},
        PlantedInRecovery{released_too_far, 1, true}, PlantedInRecovery{beyond_cut_kept, 301, true},
        PlantedInRecovery{suffix_before_snapshot, 1, true},
        PlantedInRecovery{renamed_unsynced, 1, true}, PlantedInRecovery{numbered_wrong, 1, true},
        PlantedInRecovery{old_goes_first, 301, true}, PlantedInRecovery{fetched_is_lost, 1, true},
        PlantedInRecovery{parting_hidden, 6901, true}));

}  // namespace
}  // namespace tutti::restart::testing
