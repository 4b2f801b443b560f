/// The cut that a leader finds from the words of the others.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "multicast/follower.hpp"
#include "multicast/multicast.hpp"
#include "multicast/round_cut.hpp"
#include "support/forged_table.hpp"

namespace tutti::testing {
namespace {

// Member 0 of three looks for the cut.
class FoundCut : public ::testing::Test {
 protected:
  std::optional<RoundCut> find() {
    Outbox out;
    multicast.step(out);
    multicast.wedge();
    bounds.close();
    const std::optional<Cut> cut = multicast.find_cut({true, true, true}, *delivery);
    return cut ? std::optional(unpack_round_cut(*cut)) : std::nullopt;
  }

  ForgedTable table{{}};
  const GroupShape shape = table.shape(0);
  SendRing ring{shape.own_ring, shape.ring_granules, shape.window_records};
  Bounds bounds{shape.senders()};
  MulticastCounters counters;
  Multicast<NativeMemory> multicast{shape, {}, &ring, bounds, counters};
  DeliveryTotals totals;
  const std::unique_ptr<Follower<NativeMemory>> delivery =
      make_follower(shape, NativeMemory{}, bounds, {}, totals);
};

// One that lies says that it has received rounds of a finished sender which that never had.
TEST_F(FoundCut, IsNotBeyondWhatWasSent) {
  constexpr std::uint64_t kRounds = 2;
  constexpr std::uint32_t kFinished = 1;
  table.sent(kFinished, {.records = 0, .rounds = kRounds, .finished = true});
  table.received(1, kFinished, kNoRound);
  table.received(2, kFinished, kNoRound - 1);
  const std::optional<RoundCut> cut = find();
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->received[SenderIndex{kFinished}], kRounds);
  EXPECT_LE(cut->round, kRounds);
}

// A record that cannot be is found while a leader looks for the cut, too: else it would look for
// ever, and nobody would be named.
TEST_F(FoundCut, NamesASenderWhoseRecordsCannotBe) {
  constexpr std::uint32_t kLiar = 1;
  RingWriter(table.ring(kLiar)).raw({0xFFFF, 0});
  table.sent(kLiar, {.records = 2, .rounds = 2});
  for (const std::uint32_t member : {1U, 2U}) table.received(member, kLiar, 1);
  EXPECT_FALSE(find());
  ASSERT_TRUE(multicast.violation());
  EXPECT_EQ(multicast.violation()->rank, Rank{kLiar});
}

// The words come from another member, and are input.
TEST_F(FoundCut, IsRefusedIfNoLeaderMakesIt) {
  EXPECT_TRUE(multicast.is_sensible(pack(RoundCut{4, 1, {4, 5, 5}})));
  EXPECT_FALSE(multicast.is_sensible(pack(RoundCut{4, 1, {4, 5}})))
      << "the group has three senders";
  EXPECT_FALSE(multicast.is_sensible(pack(RoundCut{4, 1, {4, 5, 5, 5}})));
  EXPECT_FALSE(multicast.is_sensible(pack(RoundCut{4, 3, {4, 5, 5}}))) << "and no fourth";
  EXPECT_FALSE(multicast.is_sensible(Cut{{4, 1ULL << 32, 4, 5, 5}}));
  EXPECT_FALSE(multicast.is_sensible(pack(RoundCut{~0ULL, 1, {4, 5, 5}}))) << "no such round";
  EXPECT_FALSE(multicast.is_sensible(Cut{}));
}

}  // namespace
}  // namespace tutti::testing
