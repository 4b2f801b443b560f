/// Which ticks a clock puts, and when it wants to be passed for the next (ticker.hpp).
#include "multicast/ticker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

#include "predicates/effects.hpp"
#include "support/forged_table.hpp"
#include "unit/predicates/mock_fabric.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kNever = ~0ULL;

/// The only member of a group whose ticks are due each 1000 ns.
struct Alone {
  Alone()
      : table({.members = 1, .sender_ranks = {0}, .tick_every_ns = 1000}),
        effects(fabric),
        group(table.shape(0), {.self = Slot{0}, .peers = {}}, {}),
        ticker(group) {}

  [[nodiscard]] std::optional<PutTick> pass(std::uint64_t now_ns, std::uint64_t time_ns = 5) {
    return ticker.pass(now_ns, [&] { return time_ns; });
  }
  void deliver() {
    for (int i = 0; i < 4; ++i) {
      group.step(effects);
      group.deliver();
    }
  }

  ForgedTable table;
  ::testing::NiceMock<MockFabric> fabric;
  Effects effects;
  Subgroup<NativeMemory> group;
  Ticker<NativeMemory> ticker;
};

TEST(Ticker, WantsToBePassedWhenTheNextIsDue) {
  Alone alone;
  alone.deliver();
  EXPECT_EQ(alone.ticker.next_pass_ns(), kNever) << "it was not asked so far";
  ASSERT_TRUE(alone.pass(10'300));
  EXPECT_EQ(alone.ticker.next_pass_ns(), 11'300U);
  EXPECT_FALSE(alone.pass(11'400)) << "TI3: the last one is not delivered";
  EXPECT_EQ(alone.ticker.next_pass_ns(), kNever) << "time alone changes nothing";
  alone.deliver();
  EXPECT_FALSE(alone.pass(11'299)) << "it is not due";
  EXPECT_EQ(alone.ticker.next_pass_ns(), 11'300U);
  ASSERT_TRUE(alone.pass(11'400));
  EXPECT_EQ(alone.ticker.next_pass_ns(), 12'300U) << "they do not drift";
  alone.deliver();
  ASSERT_TRUE(alone.pass(99'000));
  EXPECT_EQ(alone.ticker.next_pass_ns(), 100'000U) << "those that were missed do not come";
}

TEST(Ticker, GoesOnFromTheLastTimeWhereTheClockIsBehind) {
  Alone alone;
  alone.deliver();
  EXPECT_EQ(alone.pass(1'000, 1'000'000)->time_ns, 1'000'000U);
  alone.deliver();
  EXPECT_FALSE(alone.pass(1'500, 7)) << "here it sees that the tick was delivered";
  EXPECT_EQ(alone.pass(2'000, 7)->time_ns, 1'000'500U);
  alone.deliver();
  EXPECT_EQ(alone.pass(3'000, 2'000'000)->time_ns, 2'000'000U);
}

TEST(Ticker, LeavesATickOutWhereThereIsNoSpace) {
  Alone alone;
  alone.deliver();
  SendRing& ring = *alone.group.ring();
  SendRing::Space space;
  std::vector<SendRing::Space> claimed;
  while (ring.claim(8, space) == SendRing::Outcome::ok) claimed.push_back(space);
  EXPECT_FALSE(alone.pass(10'000));
  EXPECT_EQ(alone.ticker.next_pass_ns(), kNever);
  for (const SendRing::Space& each : claimed) ring.commit(each);
  alone.deliver();
  EXPECT_TRUE(alone.pass(10'100));
}

TEST(Ticker, PutsNoneOnceItsMemberHasFinished) {
  Alone alone;
  alone.deliver();
  ASSERT_TRUE(alone.pass(1'000));
  alone.group.ring()->close();
  alone.deliver();
  EXPECT_FALSE(alone.pass(5'000));
  EXPECT_EQ(alone.ticker.next_pass_ns(), kNever);
  EXPECT_TRUE(alone.group.complete());
}

}  // namespace
}  // namespace tutti::testing
