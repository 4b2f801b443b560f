/// How a view ends in the order token_ring.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "unit/ring/forged_ring.hpp"

namespace tutti::testing {
namespace {

const IndexedBy<Rank, bool> kAll{true, true, true};

// Member 0 of three finds the cut and ends the view. It has four messages of member 1; what the
// others have, and whether they have wedged, the test says.
class TokenCut : public ::testing::TestWithParam<Level> {
 protected:
  TokenCut() {
    for (std::uint32_t m = 0; m < 3; ++m) table.met_all(m);
    RingWriter writer(table.ring(1));
    for (std::uint64_t number = 0; number < 4; ++number) {
      writer.put(8, number, number == 1 ? kAbandonedBit : 0);
    }
    table.sent(1, {.records = 4, .rounds = 4});
    bounds.close();
    step();
    multicast.wedge();
    step();
  }
  void step() {
    Outbox out;
    multicast.step(out);
  }
  void says(std::uint32_t member, std::uint64_t here) {
    store_cell(table.control(member) + words.here(), here);
  }
  void wedged(std::uint32_t member, std::uint64_t here) {
    says(member, here | TokenWords::kWedged);
  }
  std::optional<Cut> cut(const IndexedBy<Rank, bool>& goes_on = kAll) {
    return multicast.find_cut(goes_on, *follower);
  }

  ForgedTable table{ForgedRing::token_ring(GetParam())};
  const GroupShape shape = table.shape(0);
  const TokenWords words{3};
  SendRing ring{shape.own_ring, shape.ring_granules, shape.window_records};
  Bounds bounds{shape.senders()};
  MulticastCounters counters;
  Multicast<NativeMemory> multicast{shape, {}, &ring, bounds, counters};
  DeliveryTotals totals;
  const std::unique_ptr<Follower<NativeMemory>> follower =
      make_follower(shape, NativeMemory{}, bounds, {}, totals);
};

TEST_P(TokenCut, SaysWhatIsHereWhenItWedges) {
  EXPECT_EQ(NativeMemory::load(table.control(0) + words.here()), 4 | TokenWords::kWedged);
}

TEST_P(TokenCut, WaitsUntilAllThatGoOnHaveWedged) {
  wedged(1, 4);
  says(2, 4);
  EXPECT_FALSE(cut());
  EXPECT_EQ(cut({true, true, false}), Cut{{4}});
  wedged(2, 4);
  EXPECT_EQ(cut(), Cut{{4}});
}

TEST_P(TokenCut, TakesWhatEverybodyHas) {
  wedged(1, 4);
  wedged(2, 3);
  if (GetParam() == Level::atomic) {
    EXPECT_EQ(cut(), Cut{{3}});
  } else {
    EXPECT_FALSE(cut()) << "we may have delivered number 3: it is passed on first";
    wedged(2, 4);
    EXPECT_EQ(cut(), Cut{{4}});
  }
}

TEST_P(TokenCut, IsNoFurtherThanWhatIsHere) {
  wedged(1, 9);
  wedged(2, 9);
  if (GetParam() == Level::atomic) {
    EXPECT_EQ(cut(), Cut{{4}});
  } else {
    EXPECT_FALSE(cut());
  }
}

TEST_P(TokenCut, IsOneNumber) {
  EXPECT_TRUE(multicast.is_sensible(Cut{{4}}));
  EXPECT_FALSE(multicast.is_sensible(Cut{{4, 0}}));
  EXPECT_FALSE(multicast.is_sensible(Cut{}));
  EXPECT_FALSE(multicast.is_sensible(Cut{{kNoRound}}));
}

TEST_P(TokenCut, EndsTheViewBehindIt) {
  EXPECT_FALSE(multicast.apply_cut(Cut{{5}}, *follower)) << "we lack number 4";
  ASSERT_TRUE(multicast.apply_cut(Cut{{3}}, *follower));
  EXPECT_EQ(bounds.get(SenderIndex{1}).records, 3U);
  EXPECT_EQ(bounds.get(SenderIndex{1}).stable, 3U);
  EXPECT_EQ(bounds.get(SenderIndex{2}).stable, 3U);
  EXPECT_EQ(multicast.next_seq(), 2U) << "number 1 was abandoned";
  EXPECT_FALSE(multicast.at_cut(Cut{{3}}, *follower));
  bounds.open();
  follower->run(4);
  EXPECT_TRUE(multicast.at_cut(Cut{{3}}, *follower));
  EXPECT_EQ(totals.counters.messages.get(), 2U);
}

INSTANTIATE_TEST_SUITE_P(All, TokenCut, ::testing::Values(Level::atomic, Level::agreed),
                         [](const auto& level) {
                           return level.param == Level::atomic ? "Atomic" : "Agreed";
                         });

}  // namespace
}  // namespace tutti::testing
