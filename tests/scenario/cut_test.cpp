/// Members that are cut off or die: what everybody has delivered so far, the dead included, are
/// prefixes of one sequence; at Level::atomic nothing was delivered that some member lacks. (The
/// members here never hear of the loss, and stay in their view: it is safe even so. How a view ends
/// is tested in the simulated world.)
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/schedule.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kCutSeeds = 150;

std::vector<std::uint64_t> delivered(World& world) {
  std::vector<std::uint64_t> counts;
  for (const World::Part& part : world.parts()) {
    counts.push_back(world.log().delivered_at(part.member));
  }
  return counts;
}

WorldOptions options(std::uint64_t seed, Level level) {
  return {.seed = seed, .nodes = 4, .groups = {small_group("g", "abcd", "abcd", level)}};
}

// The logs compare all sequences as they grow, and look for every delivery in all memories.
void run(std::uint64_t seed, Level level, const std::function<void(World&, Prng&)>& fail) {
  SCOPED_TRACE(seed);
  Prng random(seed);
  World world(options(seed, level));
  Schedule schedule(world, {.seed = seed});
  schedule.act(static_cast<std::uint32_t>(random.below(3000)));
  fail(world, random);
  schedule.act(6000);
  world.check_end();
  ASSERT_EQ(world.findings(), "");
}

TEST(Cut, ALinkThatBreaksLeavesPrefixesOfOneSequence) {
  for (std::uint64_t seed = 1; seed <= kCutSeeds; ++seed) {
    for (const Level level : {Level::atomic, Level::agreed, Level::unordered}) {
      run(seed, level, [](World& world, Prng& random) {
        const auto a = static_cast<std::uint32_t>(random.below(4));
        world.cut(a, (a + 1 + static_cast<std::uint32_t>(random.below(3))) % 4);
      });
    }
  }
}

TEST(Cut, AMemberThatDiesLeavesPrefixesOfOneSequence) {
  for (std::uint64_t seed = 1; seed <= kCutSeeds; ++seed) {
    for (const Level level : {Level::atomic, Level::agreed, Level::unordered}) {
      run(seed, level, [](World& world, Prng& random) {
        world.kill(static_cast<std::uint32_t>(random.below(4)));
      });
    }
  }
}

TEST(Cut, ManyLinksThatBreakLeavePrefixesOfOneSequence) {
  for (std::uint64_t seed = 1; seed <= kCutSeeds; ++seed) {
    run(seed, Level::atomic, [](World& world, Prng& random) {
      for (std::uint32_t a = 0; a < 4; ++a) {
        for (std::uint32_t b = a + 1; b < 4; ++b) {
          if (random.one_in(3)) world.cut(a, b);
        }
      }
    });
  }
}

// Deliveries end with the window: nobody goes far beyond what the dead node had. It takes part in
// groups that it is no member of, too: all nodes carry all groups, until the view changes.
TEST(Cut, AtomicDeliveryEndsWithWhatTheDeadNodeReceived) {
  for (const std::string members : {"abcd", "abc"}) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      SCOPED_TRACE(members + " " + std::to_string(seed));
      World world({.seed = seed, .nodes = 4, .groups = {small_group("g", members, members)}});
      Schedule schedule(world, {.seed = seed, .messages_max = 1000});
      schedule.act(1500);
      world.kill(3);
      schedule.act(30'000);
      const std::vector<std::uint64_t> before = delivered(world);
      schedule.act(10'000);
      EXPECT_EQ(delivered(world), before);
      EXPECT_EQ(world.findings(), "");
    }
  }
}

}  // namespace
}  // namespace tutti::testing
