/// How a view ends in the order lcr.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "multicast/round_cut.hpp"
#include "unit/ring/forged_chain.hpp"

namespace tutti::testing {
namespace {

const IndexedBy<Rank, bool> kAllGoOn{true, true, true};
const IndexedBy<Rank, bool> kNoneSuspected{false, false, false};

// Member 0 of three, on one host. The others say what the test wants.
class ChainCut : public ::testing::Test {
 protected:
  static ForgedOptions options() {
    ForgedOptions options = ForgedChain::chain();
    options.copied = false;
    return options;
  }
  void step() {
    Outbox out;
    multicast.step(out);
  }
  void frame(const Frame& frame) {
    for (const std::uint64_t word : pack_frame(frame)) {
      store_cell(table.lane(2).data() + lane_++ * kGranule, word);
    }
    store_cell(table.control(2) + words.lane(), lane_);
  }
  void lacking(std::uint32_t member, const Lacking& lacking) {
    store_cell(table.control(member) + words.lacking(), pack_lacking(lacking));
  }
  [[nodiscard]] std::uint64_t own_lacking() {
    return NativeMemory::load(table.control(0) + words.lacking());
  }
  std::optional<RoundCut> cut(const IndexedBy<Rank, bool>& goes_on = kAllGoOn) {
    const std::optional<Cut> found = multicast.find_cut(goes_on, *follower);
    return found ? std::optional(unpack_round_cut(*found)) : std::nullopt;
  }
  // All have rounds 0 to 3 of senders 0 and 2, without a record. Sender 1 sent four rounds, of
  // which member 0 has received two.
  void sender_1_is_behind() {
    frame({.sender = 1, .granules = 4, .sent = pack(SentState{2, 2, false})});
    frame({.sender = 2, .sent = pack(SentState{0, 4, false})});
    step();
    for (const std::uint32_t m : {1U, 2U}) {
      table.received(m, 0, 4);
      table.received(m, 2, 4);
    }
    table.received(1, 1, 4);
    table.received(2, 1, 3);
    table.sent(1, {.records = 4, .rounds = 4});
    table.sent(2, {.records = 0, .rounds = 4});
    multicast.wedge();
    lacking(2, {});
  }

  ForgedTable table{options()};
  const GroupShape shape = table.shape(0);
  const LaneWords words{3};
  SendRing ring{shape.own_ring, shape.ring_granules, shape.window_records};
  Bounds bounds{shape.senders()};
  MulticastCounters counters;
  Multicast<NativeMemory> multicast{shape, {}, &ring, bounds, counters};
  DeliveryTotals totals;
  const std::unique_ptr<Follower<NativeMemory>> follower =
      make_follower(shape, NativeMemory{}, bounds, {}, totals);

 private:
  std::uint64_t lane_ = 0;
};

TEST_F(ChainCut, EndsBeforeTheRecordThatASurvivorLacks) {
  sender_1_is_behind();
  lacking(1, {.from = 2, .record = 2});
  ASSERT_TRUE(cut());
  EXPECT_EQ(cut()->round, 2U);
  EXPECT_EQ(cut()->sender, SenderIndex{1});
}

TEST_F(ChainCut, PassesOverNullsThatASurvivorLacks) {
  sender_1_is_behind();
  lacking(1, {.from = 2, .record = 1});
  ASSERT_TRUE(cut());
  EXPECT_EQ(cut()->round, 3U);
  EXPECT_EQ(cut()->sender, SenderIndex{1});
  lacking(1, {.from = 2, .record = 0});
  ASSERT_TRUE(cut());
  EXPECT_EQ(cut()->round, 4U) << "no record is lacking";
  EXPECT_EQ(cut()->sender, SenderIndex{0});
}

TEST_F(ChainCut, WaitsForWhatASenderTells) {
  sender_1_is_behind();
  EXPECT_FALSE(cut());
  lacking(1, {.from = 2, .record = 2});
  EXPECT_TRUE(cut());
}

// The sender suspects a member that this one does not suspect, or the other way round.
TEST_F(ChainCut, WaitsForWhatIsToldOfTheMembersOfTheCut) {
  sender_1_is_behind();
  lacking(1, {.from = 1, .record = 1});
  EXPECT_FALSE(cut()) << "told of members that have more than this one";
  lacking(1, {.from = 3, .record = 3});
  EXPECT_FALSE(cut()) << "told of one that has less";
  lacking(1, {.from = 3, .record = 2});
  ASSERT_TRUE(cut()) << "but no record of those that it lacks is here";
  EXPECT_EQ(cut()->round, 2U);
}

TEST_F(ChainCut, IsNotFoundFromWhatCannotBe) {
  sender_1_is_behind();
  lacking(1, {.from = 1, .record = 2});
  EXPECT_FALSE(cut());
  ASSERT_TRUE(multicast.violation());
  EXPECT_EQ(multicast.violation()->rank, Rank{1});
}

TEST_F(ChainCut, ASenderTellsWhatOthersLackAsTheyTellWhatTheyHave) {
  for (int i = 0; i < 2; ++i) {
    SendRing::Space space;
    ASSERT_EQ(ring.claim(8, space), SendRing::Outcome::ok);
    ring.commit(space);
  }
  step();
  multicast.wedge();
  EXPECT_TRUE(multicast.tell_wedged(kNoneSuspected, *follower)) << "LC1";
  EXPECT_EQ(own_lacking(), pack_lacking({.from = 2, .record = 2}));
  EXPECT_FALSE(multicast.tell_wedged(kNoneSuspected, *follower)) << "nothing is new";
  table.received(1, 0, 2);
  table.received(2, 0, 1);
  EXPECT_TRUE(multicast.tell_wedged(kNoneSuspected, *follower));
  EXPECT_EQ(own_lacking(), pack_lacking({.from = 1, .record = 1}));
  EXPECT_FALSE(multicast.tell_wedged(kNoneSuspected, *follower)) << "nothing is new";
  EXPECT_TRUE(multicast.tell_wedged({false, false, true}, *follower));
  EXPECT_EQ(own_lacking(), pack_lacking({}));
}

}  // namespace
}  // namespace tutti::testing
