/// V2: once everything is delivered nothing is written or pushed; and what nulls cost before that.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/schedule.hpp"

namespace tutti::testing {
namespace {

struct Snapshot {
  explicit Snapshot(World& world) {
    for (std::uint32_t node = 0; node < world.nodes(); ++node) {
      const AlignedRow& row = world.row(node);
      rows.emplace_back(row.data(), row.data() + row.size());
      writes.push_back(world.posted(node).writes);
    }
    for (World::Part& part : world.parts()) {
      const GroupStatistics statistics = part.machine->statistics();
      nulls.push_back(statistics.nulls_sent);
      pushes.push_back(statistics.pushes);
    }
  }
  bool operator==(const Snapshot&) const = default;

  std::vector<std::vector<std::byte>> rows;
  std::vector<std::uint64_t> writes, nulls, pushes;
};

constexpr std::uint32_t kQuietPasses = 200;

void expect_quiet(World& world) {
  const Snapshot before(world);
  for (std::uint32_t i = 0; i < kQuietPasses * world.nodes(); ++i) {
    ASSERT_EQ(world.pass(i % world.nodes()), 0U);
  }
  EXPECT_TRUE(before == Snapshot(world)) << "a silent group wrote or pushed something";
}

class Quiescence : public ::testing::TestWithParam<Wires> {
 protected:
  static WorldOptions options(std::uint64_t seed, Level level) {
    return {.seed = seed,
            .nodes = 4,
            .groups = {small_group("g", "abcd", "abd", level)},
            .wires = GetParam(),
            .nested = false};
  }
};

TEST_P(Quiescence, AGroupThatNeverSentIsSilent) {
  World world(options(1, Level::atomic));
  expect_quiet(world);
  for (World::Part& part : world.parts()) {
    EXPECT_EQ(part.machine->statistics().nulls_sent, 0U);
    EXPECT_EQ(part.machine->statistics().null_pushes, 0U);
  }
}

TEST_P(Quiescence, IsReachedAfterAnyTrafficWithoutAnybodyFinishing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Level level = seed % 3 == 0 ? Level::agreed : Level::atomic;
    World world(options(seed, seed % 5 == 0 ? Level::unordered : level));
    Prng random(seed);
    for (int i = 0; i < 300; ++i) {
      World::Part& part = world.parts()[random.below(world.parts().size())];
      const auto size = static_cast<std::uint32_t>(random.below(200));
      if (part.sender != kNone) world.send(part, size);
      world.pass(static_cast<std::uint32_t>(random.below(world.nodes())));
    }
    ASSERT_TRUE(world.settle());
    for (std::uint32_t member = 0; member < 4; ++member) {
      EXPECT_EQ(world.log().delivered_at(member), world.log().deliverable()) << "all is delivered";
    }
    expect_quiet(world);
    ASSERT_EQ(world.findings(), "");
  }
}

TEST_P(Quiescence, IsReachedAfterTheEnd) {
  World world(options(1, Level::atomic));
  for (World::Part& part : world.parts()) {
    if (part.sender != kNone) world.send(part, 100);
    world.finish(part);
  }
  ASSERT_TRUE(world.settle());
  EXPECT_TRUE(world.complete());
  expect_quiet(world);
}

// [Spindle, 3.3]: what a lone sender costs the others. One null push per batch received; but where
// nulls of a third member overtake the batch they answer, they ask for the same rounds, or for one
// less, a push earlier: then up to two per batch sent.
TEST_P(Quiescence, ALoneSenderCostsOneNullPushPerBatch) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    World world(options(seed, Level::atomic));
    Prng random(seed);
    World::Part& sender = world.part(static_cast<std::uint32_t>(random.below(2)));
    std::uint64_t messages = 0;
    for (int i = 0; i < 400; ++i) {
      if (random.one_in(3)) messages += world.send(sender, 50) ? 1 : 0;
      world.pass(static_cast<std::uint32_t>(random.below(world.nodes())));
    }
    ASSERT_TRUE(world.settle());
    const std::uint64_t sent_batches = sender.machine->statistics().send.batches;
    for (World::Part& part : world.parts()) {
      if (&part == &sender) continue;
      const GroupStatistics statistics = part.machine->statistics();
      if (GetParam() == Wires::shared) {
        EXPECT_LE(statistics.null_pushes, statistics.receive.batches);
      }
      EXPECT_LE(statistics.null_pushes, 2 * sent_batches);
      EXPECT_LE(statistics.nulls_sent, messages);
      EXPECT_EQ(statistics.nulls_sent > 0, part.sender != kNone && messages > 1);
    }
  }
}

// V2's bound: a member gives up no more rounds than others have started.
TEST_P(Quiescence, NullsNeverOutnumberTheMessagesOfTheOthers) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    World world(options(seed, Level::atomic));
    Schedule schedule(world, {.seed = seed});
    schedule.act(10'000);
    ASSERT_TRUE(schedule.complete());
    for (World::Part& part : world.parts()) {
      std::uint64_t others = 0;
      for (std::uint32_t s = 0; s < 3; ++s) {
        if (s != part.sender) others += world.log().claims(s);
      }
      EXPECT_LE(part.machine->statistics().nulls_sent, others);
    }
  }
}

std::string wires_name(const ::testing::TestParamInfo<Wires>& wires) {
  return std::array{"Faulty", "Landing", "Shared"}[static_cast<std::size_t>(wires.param)];
}

INSTANTIATE_TEST_SUITE_P(Wires, Quiescence,
                         ::testing::Values(Wires::faulty, Wires::landing, Wires::shared),
                         wires_name);

}  // namespace
}  // namespace tutti::testing
