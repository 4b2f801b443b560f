/// How members that go on pass on to one another what one of them has of a lost sender (I8, H1 to
/// H4), and the cut that follows (D9).
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "multicast/follower.hpp"
#include "multicast/round_cut.hpp"
#include "unit/multicast/forged_member.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint32_t kLost = 0;  // member and sender
constexpr std::uint32_t kHas = 1, kLacks = 2;

// A member of the view whose delivery stands still.
class Survivor {
 public:
  Survivor(ForgedTable& table, std::uint32_t rank)
      : shape_(table.shape(rank)),
        ring_(shape_.own_ring, shape_.ring_granules, shape_.window_records),
        bounds_(shape_.senders()),
        multicast_(shape_, {}, &ring_, bounds_, counters_),
        follower_(make_follower(shape_, NativeMemory{}, bounds_, {}, totals_)) {
    step();
  }

  void step() {
    Outbox out;
    multicast_.step(out);
  }
  void deliver() { follower_->run(1); }
  void wedge() { multicast_.wedge(); }
  /// True if it has anything to post.
  bool pass_on(const IndexedBy<Rank, bool>& suspected, bool all_wedged = true) {
    multicast_.pass_on(suspected, all_wedged, *follower_);
    return multicast_.take_passed().words;
  }
  std::optional<RoundCut> find_cut(const IndexedBy<Rank, bool>& goes_on) {
    const std::optional<Cut> cut = multicast_.find_cut(goes_on, *follower_);
    return cut ? std::optional(unpack_round_cut(*cut)) : std::nullopt;
  }
  Multicast<NativeMemory>* operator->() { return &multicast_; }

 private:
  const GroupShape shape_;
  SendRing ring_;
  Bounds bounds_;
  MulticastCounters counters_;
  Multicast<NativeMemory> multicast_;
  DeliveryTotals totals_;
  const std::unique_ptr<Follower<NativeMemory>> follower_;
};

class PassingOn : public ::testing::Test {
 protected:
  PassingOn() {
    for (std::uint32_t member = 0; member < 3; ++member) table.met_all(member);
  }

  // The one that has it hears of it, the other does not look any more. Both are wedged then.
  void lose(const SentState& sent) {
    table.sent(kLost, sent);
    has.step();
    has.wedge();
    lacks.wedge();
  }
  // Until nobody has anything to post. Returns the number of pieces.
  std::uint64_t exchange() {
    for (int i = 0; i < 100; ++i) {
      const bool posted = lacks.pass_on(suspected);
      if (!has.pass_on(suspected) && !posted) return has->pieces_passed();
    }
    ADD_FAILURE() << "they do not come to an end";
    return 0;
  }
  [[nodiscard]] std::uint64_t word(std::uint32_t member, PassWords::Word column) {
    return NativeMemory::load(table.pass_word(member, column));
  }
  void set_word(std::uint32_t member, PassWords::Word column, std::uint64_t value) {
    store_cell(table.pass_word(member, column), value);
  }
  [[nodiscard]] bool same_rings() {
    AlignedRow& there = table.replica(kLacks, kLost);
    return std::memcmp(there.data(), table.replica(kHas, kLost).data(), there.size()) == 0;
  }

  ForgedTable table{{.level = Level::agreed, .copied = true}};
  RingWriter writer{table.replica(kHas, kLost)};
  Survivor has{table, kHas};
  Survivor lacks{table, kLacks};
  const IndexedBy<Rank, bool> suspected{true, false, false};
};

TEST_F(PassingOn, GivesEachWhatOneHas) {
  std::memcpy(writer.put(16, 0), "first of the two", 16);
  std::memcpy(writer.put(8, 3), "the last", 8);
  lose({.records = 2, .rounds = 6});
  EXPECT_FALSE(has.find_cut({false, true, true})) << "they do not have the same";
  EXPECT_EQ(exchange(), 1U);
  EXPECT_EQ(table.received(kLacks, kLost), 6U);
  EXPECT_TRUE(same_rings());
  table.received(kLacks, kHas, table.received(kHas, kHas));  // its nulls
  const std::optional<RoundCut> cut = has.find_cut({false, true, true});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->received[SenderIndex{kLost}], 6U);
  EXPECT_FALSE(lacks->violation());
}

TEST_F(PassingOn, TakesSeveralPiecesWhereOneIsTooSmall) {  // H2, H4
  for (std::uint64_t round = 0; round < 4; ++round) writer.put(100, 2 * round);
  lose({.records = 4, .rounds = 9});
  ASSERT_TRUE(lacks.pass_on(suspected));
  ASSERT_TRUE(has.pass_on(suspected));
  EXPECT_EQ(word(kHas, PassWords::kGranules), 42U)
      << "three whole records, and it is not the last piece";
  ASSERT_FALSE(has.pass_on(suspected)) << "nobody has seen it";
  EXPECT_EQ(has->pieces_passed(), 1U);
  ASSERT_TRUE(lacks.pass_on(suspected));
  EXPECT_EQ(table.received(kLacks, kLost), 5U) << "up to the third record, without nulls behind";
  EXPECT_EQ(exchange(), 2U);
  EXPECT_EQ(table.received(kLacks, kLost), 9U);
  EXPECT_TRUE(same_rings());
}

// R1: the longest record, behind what one just as long did not need and what is left at the ring's
// end. It goes in one piece or not at all.
TEST_F(PassingOn, TakesARecordBehindTwoPads) {
  RingWriter there{table.replica(kLacks, kLost)};
  for (RingWriter* ring : {&writer, &there}) {
    ring->put(120, 0);
    ring->put(112, 1);
  }
  table.sent(kLost, {.records = 2, .rounds = 2});
  for (Survivor* survivor : {&has, &lacks}) {
    survivor->step();
    survivor->deliver();  // so the ring's start may be used again
  }
  ASSERT_EQ(table.received(kLacks, kLost), 2U);
  writer.put(0, 2);
  writer.pad(16);
  std::memcpy(writer.put(128, 3), "behind two pads", 15);
  lose({.records = 4, .rounds = 4});
  EXPECT_GT(exchange(), 0U);
  EXPECT_EQ(table.received(kLacks, kLost), 4U);
  EXPECT_EQ(std::memcmp(table.replica(kLacks, kLost).data() + kGranule, "behind two pads", 15), 0);
}

TEST_F(PassingOn, SaysThatOnlyNullsCame) {
  lose({.records = 0, .rounds = 5});
  EXPECT_EQ(exchange(), 1U);
  EXPECT_EQ(table.received(kLacks, kLost), 5U);
}

TEST_F(PassingOn, SaysThatTheSenderHadFinished) {
  writer.put(8, 0);
  lose({.records = 1, .rounds = 1, .finished = true});
  EXPECT_EQ(exchange(), 1U);
  EXPECT_EQ(table.received(kLacks, kLost), kNoRound);
}

TEST_F(PassingOn, ThatWasReplacedWhileItWasReadIsNotTaken) {  // H1
  writer.put(16, 0);
  lose({.records = 1, .rounds = 1});
  lacks.pass_on(suspected);
  has.pass_on(suspected);
  std::byte& changed = table.area(kHas).data()[9];
  changed ^= std::byte{1};
  lacks.pass_on(suspected);
  EXPECT_EQ(table.received(kLacks, kLost), 0U);
  EXPECT_EQ(word(kLacks, PassWords::seen(3)[Rank{kHas}]), 0U) << "nor seen";
  changed ^= std::byte{1};
  lacks.pass_on(suspected);
  EXPECT_EQ(table.received(kLacks, kLost), 1U);
  EXPECT_EQ(word(kLacks, PassWords::seen(3)[Rank{kHas}]), 1U);
}

TEST_F(PassingOn, OfOneThatIsNotSuspectedHereWaits) {
  writer.put(16, 0);
  lose({.records = 1, .rounds = 1});
  lacks.pass_on(suspected);
  has.pass_on(suspected);
  lacks.pass_on({false, false, false});
  EXPECT_EQ(table.received(kLacks, kLost), 0U);
  lacks.pass_on(suspected);
  EXPECT_EQ(table.received(kLacks, kLost), 1U);
}

TEST_F(PassingOn, WaitsUntilAllHaveWedged) {
  writer.put(16, 0);
  lose({.records = 1, .rounds = 1});
  EXPECT_TRUE(lacks.pass_on(suspected, false)) << "tells what it has";
  EXPECT_TRUE(has.pass_on(suspected, false));
  EXPECT_EQ(has->pieces_passed(), 0U);
  EXPECT_EQ(exchange(), 1U);
}

TEST_F(PassingOn, IsForTheOneThatHasMostOfThoseOfTheLowestRank) {
  writer.put(16, 0);
  lose({.records = 1, .rounds = 1});
  lacks.pass_on(suspected);
  table.received(kLacks, kLost, 2);  // it says that it has more
  has.pass_on(suspected);
  EXPECT_EQ(has->pieces_passed(), 0U);
  table.received(kLacks, kLost, 1);  // as much: then there is nothing to pass on
  has.pass_on(suspected);
  EXPECT_EQ(has->pieces_passed(), 0U);
}

TEST_F(PassingOn, IsNotAskedOfOneWhoseReachCannotBe) {
  writer.put(16, 0);
  writer.put(16, 1);
  lose({.records = 2, .rounds = 2});
  lacks.pass_on(suspected);
  for (const Reach& lie : {Reach{.records = 5, .offset = 0}, Reach{.records = 0, .offset = 64},
                           Reach{.records = 0, .offset = 1}, Reach{.records = 1, .offset = 0},
                           Reach{.records = 0xFFFFFFFF, .offset = 0}}) {
    set_word(kLacks, PassWords::kReach[SenderIndex{0}], pack_reach(lie));
    has.pass_on(suspected);
    EXPECT_EQ(has->pieces_passed(), 0U) << lie.records << " " << lie.offset;
  }
  set_word(kLacks, PassWords::kReach[SenderIndex{0}], pack_reach({.records = 1, .offset = 3}));
  has.pass_on(suspected);
  EXPECT_EQ(has->pieces_passed(), 1U);
}

TEST_F(PassingOn, OfNonsenseNamesTheSender) {
  writer.raw({100, 0});  // longer than what is passed on
  lose({.records = 0, .rounds = 0});
  lacks.pass_on(suspected);
  GroupShape shape = table.shape(kHas);
  shape.sender_rings[SenderIndex{kLost}] = table.replica(kHas, kLost).data();
  PassedPieces<NativeMemory> liar(shape, {});
  ASSERT_TRUE(
      liar.pass({.sender = {kLost}, .sent = pack({.records = 1, .rounds = 1}), .last = true}, 2));
  lacks.pass_on(suspected);
  ASSERT_TRUE(lacks->violation());
  EXPECT_EQ(lacks->violation()->rank, Rank{kLost});
  EXPECT_EQ(table.received(kLacks, kLost), 0U);
}

TEST_F(PassingOn, BeginsWhereWhatOneHasEnds) {
  writer.put(16, 0);
  std::memcpy(table.replica(kLacks, kLost).data(), table.replica(kHas, kLost).data(), 24);
  table.sent(kLost, {.records = 1, .rounds = 1});
  lacks.step();
  writer.put(8, 7);
  lose({.records = 2, .rounds = 8});
  EXPECT_EQ(exchange(), 1U);
  EXPECT_EQ(word(kHas, PassWords::kBegin), 1U);
  EXPECT_EQ(word(kHas, PassWords::kOffset), 3U);
  EXPECT_EQ(table.received(kLacks, kLost), 8U);
  EXPECT_TRUE(same_rings());
}

TEST_F(PassingOn, NamesTheSenderWhoseRecordsCannotBe) {
  writer.raw({129, 0});  // longer than messages are
  lose({.records = 1, .rounds = 1});
  lacks.pass_on(suspected);
  has.pass_on(suspected);
  EXPECT_EQ(has->pieces_passed(), 0U);
  ASSERT_TRUE(has->violation());
  EXPECT_EQ(has->violation()->rank, Rank{kLost});
}

TEST_F(PassingOn, TakesNothingElseOfASuspectedSender) {
  writer.put(16, 0);
  writer.put(16, 1);
  lose({.records = 1, .rounds = 1});
  has.pass_on(suspected);
  table.sent(kLost, {.records = 2, .rounds = 2});
  has.step();
  EXPECT_EQ(table.received(kHas, kLost), 1U);
}

TEST(PassingOnInSharedRows, RaisesWhatIsReceived) {
  ForgedTable table({.level = Level::agreed});
  for (std::uint32_t member = 0; member < 3; ++member) table.met_all(member);
  RingWriter(table.ring(kLost)).put(8, 0);
  Survivor has(table, kHas);
  Survivor lacks(table, kLacks);
  const IndexedBy<Rank, bool> suspected{true, false, false};
  table.sent(kLost, {.records = 1, .rounds = 4});
  has.step();
  has.wedge();
  lacks.wedge();
  lacks.pass_on(suspected);
  has.pass_on(suspected);
  lacks.pass_on(suspected);
  EXPECT_EQ(table.received(kLacks, kLost), 4U);
}

TEST(PassingOnNot, WhereSomebodyLacksARow) {  // I7
  ForgedTable table({.level = Level::agreed, .copied = true});
  table.met_all(0);
  table.met_all(1);
  RingWriter(table.replica(1, 0)).put(8, 0);
  Survivor has(table, 1);
  table.sent(0, {.records = 1, .rounds = 1});
  has.step();
  has.wedge();
  store_cell(table.pass_word(2, PassWords::kReach[SenderIndex{0}]),
             pack_reach({.records = 0, .offset = 0}));
  has.pass_on({true, false, false});
  EXPECT_EQ(has->pieces_passed(), 0U);
  table.met_all(2);
  has.pass_on({true, false, false});
  EXPECT_EQ(has->pieces_passed(), 1U);
}

// What a lost sender sent after a position that another lost one left open may answer what is
// missing there (D9).
TEST(CutAtAgreed, LeavesOutAnswersToWhatIsMissing) {
  constexpr std::uint32_t kFirst = 0, kSecond = 1, kSelf = 2;
  for (const bool finished : {false, true}) {
    ForgedTable table({.level = Level::agreed});
    for (std::uint32_t member = 0; member < 3; ++member) table.met_all(member);
    RingWriter second(table.ring(kSecond));
    for (std::uint64_t round = 0; round < 4; ++round) second.put(8, round);
    table.sent(kFirst, {.records = 0, .rounds = 2});
    table.sent(kSecond, {.records = 4, .rounds = 4, .finished = finished});
    Survivor self(table, kSelf);
    self.step();
    self.wedge();
    const std::optional<RoundCut> cut = self.find_cut({false, false, true});
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->received[SenderIndex{kFirst}], 2U);
    EXPECT_EQ(cut->received[SenderIndex{kSecond}], 2U) << "its round 2 comes after the other's";
  }
}

}  // namespace
}  // namespace tutti::testing
