// Thousands of small worlds, each from a seed. TUTTI_DOMAIN_SEEDS says how many, and
// TUTTI_DOMAIN_FIRST which is the first. What is wrong is also said as `seed N: property`, for
// tests/sim/mutants.py.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "domain/world.hpp"
#include "support/from_environment.hpp"
#include "support/sanitized.hpp"

namespace tutti::domain {
namespace {

constexpr std::uint64_t kSeedsByDefault = tutti::testing::kSanitized ? 20 : 300;

TEST(DomainSimulation, EveryPropertyHoldsForEverySeed) {
  const std::uint64_t first = tutti::testing::from_environment("TUTTI_DOMAIN_FIRST", 1);
  const std::uint64_t seeds =
      tutti::testing::from_environment("TUTTI_DOMAIN_SEEDS", kSeedsByDefault);
  World::Counts all;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    World world(seed);
    world.run();
    if (!world.wrong().empty()) {
      std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed),
                   world.wrong().c_str());
    }
    ASSERT_EQ(world.wrong(), "") << "seed " << seed << "\n" << world.story();
    const World::Counts& one = world.counts();
    all.created += one.created;
    all.joined += one.joined;
    all.refused += one.refused;
    all.deleted += one.deleted;
    all.in_use += one.in_use;
    all.written += one.written;
    all.taken += one.taken;
    all.called += one.called;
    all.lost += one.lost;
    all.crashes += one.crashes;
    all.leaves += one.leaves;
    all.joins += one.joins;
    all.history += one.history;
    all.timed_out += one.timed_out;
    all.full += one.full;
    all.clients += one.clients;
    all.acknowledged += one.acknowledged;
    all.finished += one.finished;
    all.restarts += one.restarts;
    all.waits += one.waits;
    all.amid += one.amid;
    all.from_log += one.from_log;
    all.overtaken += one.overtaken;
    all.given_late += one.given_late;
  }
  std::printf(
      "topics: %zu created, %zu joined, %zu refused, %zu deleted, %zu in use, %zu timed out; "
      "samples: %zu written, %zu acknowledged, %zu taken, %zu called with, %zu lost, %zu without "
      "space, %zu of clients; members: %zu crashed, %zu left, %zu joined, %zu looked in the end; "
      "%zu readers found a history, %zu came in a batch; %zu samples of logs, %zu restarts of all, "
      "%zu deliveries waited; %zu members were overtaken and took %zu samples then\n",
      all.created, all.joined, all.refused, all.deleted, all.in_use, all.timed_out, all.written,
      all.acknowledged, all.taken, all.called, all.lost, all.full, all.clients, all.crashes,
      all.leaves, all.joins, all.finished, all.history, all.amid, all.from_log, all.restarts,
      all.waits, all.overtaken, all.given_late);
  // The worlds are worth something only if all this happens in them.
  if (seeds < 300) return;
  EXPECT_GT(all.created, 2 * seeds);
  EXPECT_GT(all.joined, 5 * seeds);
  EXPECT_GT(all.refused, seeds);
  EXPECT_GT(all.deleted, seeds / 2);
  EXPECT_GT(all.in_use, seeds / 2);
  EXPECT_GT(all.written, 50 * seeds);
  EXPECT_GT(all.acknowledged, 5 * seeds);
  EXPECT_GT(all.taken, 20 * seeds);
  EXPECT_GT(all.called, 10 * seeds);
  EXPECT_GT(all.lost, 2 * seeds);
  EXPECT_GT(all.full, seeds);
  EXPECT_GT(all.clients, 2 * seeds);
  EXPECT_GT(all.crashes, seeds);
  EXPECT_GT(all.leaves, seeds / 2);
  EXPECT_GT(all.joins, seeds);
  EXPECT_GT(all.history, seeds);
  EXPECT_GT(all.timed_out, seeds / 10);
  EXPECT_GT(all.amid, seeds / 10);
  EXPECT_GT(all.from_log, 2 * seeds);
  EXPECT_GT(all.restarts, seeds / 2);
  EXPECT_GT(all.waits, seeds / 4);
  EXPECT_GT(all.overtaken, seeds / 8);
  EXPECT_GT(all.given_late, seeds / 8);
}

}  // namespace
}  // namespace tutti::domain
