/// What goes along a chain: frames, acknowledgements, free space, and what a corrupt neighbour
/// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "ring/lcr/milestones.hpp"
#include "sst/rounds_ahead.hpp"
#include "unit/ring/forged_chain.hpp"

namespace tutti::testing {
namespace {

using ::testing::HasSubstr;

class ChainOfThree : public ::testing::Test {
 protected:
  // A message of member 0 with bytes that tell where they belong.
  void commit(std::uint32_t bytes) {
    SendRing::Space space;
    ASSERT_EQ(chain[0].ring().claim(bytes, space), SendRing::Outcome::ok);
    for (std::uint32_t i = 0; i < bytes; ++i) {
      space.payload[i] = static_cast<std::byte>(i * 7 + i / 256);
    }
    chain[0].ring().commit(space);
  }
  [[nodiscard]] bool has_first_message(std::uint32_t member, std::uint32_t bytes) {
    return std::memcmp(chain.table.replica(member, 0).data(), chain.table.ring(0).data(),
                       record_granules(bytes) * kGranule) == 0;
  }

  ForgedChain chain;
};

TEST_F(ChainOfThree, HandsARecordFromMemberToMember) {
  chain.step_all(2);  // they tell what they need
  commit(100);
  chain.step(0);
  EXPECT_FALSE(chain[0].out.control) << "its words are for the next member only";
  EXPECT_TRUE(chain[0].out.control_to_next);
  EXPECT_EQ(chain[0].out.data.count, 1U) << "its own bytes go straight from its ring";
  EXPECT_TRUE(has_first_message(1, 100));
  EXPECT_FALSE(has_first_message(2, 100));
  chain.step(1);
  EXPECT_EQ(chain[1].out.data.count, 0U);
  EXPECT_NE(chain[1].out.lane.count, 0U) << "those of another go by the lane";
  chain.step(2);
  EXPECT_TRUE(has_first_message(2, 100));
  EXPECT_EQ(chain.table.received(2, 0), 1U);
  chain.step(2);
  EXPECT_EQ(chain[2].out.data.count, 0U) << "a sender is not handed its own records";
}

TEST_F(ChainOfThree, StableIsWhatTheMemberBeforeTheSenderHas) {
  chain.step_all(2);
  commit(8);
  chain.step(0);
  chain.step(1);
  EXPECT_EQ(chain[0]->stable(SenderIndex{0}), 0U);
  EXPECT_EQ(chain[1]->stable(SenderIndex{0}), 0U);
  chain.step(2);
  EXPECT_EQ(chain[2]->stable(SenderIndex{0}), 1U) << "the last one knows that all have it";
  chain.step(1);
  EXPECT_EQ(chain[1]->stable(SenderIndex{0}), 0U)
      << "the acknowledgement goes round by way of the sender";
  chain.step(0);
  EXPECT_EQ(chain[0]->stable(SenderIndex{0}), 1U);
  chain.step(1);
  EXPECT_EQ(chain[1]->stable(SenderIndex{0}), 1U);
}

TEST_F(ChainOfThree, ARecordMayBeLongerThanTheLane) {
  chain.step_all(2);
  constexpr std::uint32_t kBytes = 1024;
  ASSERT_GT(record_granules(kBytes), ForgedChain::chain().lane_granules);
  commit(kBytes);
  chain.step(0);
  chain.step(1);
  chain.step(2);
  EXPECT_EQ(chain.table.received(1, 0), 1U);
  EXPECT_EQ(chain.table.received(2, 0), 0U) << "a part is no record";
  for (int i = 0; i < 4 && chain.table.received(2, 0) == 0; ++i) chain.step_all();
  EXPECT_EQ(chain.table.received(2, 0), 1U);
  EXPECT_TRUE(has_first_message(2, kBytes));
}

TEST_F(ChainOfThree, SpaceIsFreeOnceAllHaveDelivered) {
  chain.step_all(2);
  commit(8);
  chain.step_all(6);
  const std::uint64_t end = 3;  // round 0 of three senders
  for (const std::uint32_t m : {0U, 1U}) chain[m]->set_delivered(end);
  chain.step_all(6);
  EXPECT_EQ(chain[0].ring().released(), 0U) << "member 2 has not delivered it";
  chain[2]->set_delivered(end);
  chain.step_all(6);
  EXPECT_EQ(chain[0].ring().released(), 1U);
}

TEST_F(ChainOfThree, IsSilentWhenNothingIsSent) {
  chain.step_all(2);
  commit(8);
  chain.step_all(8);
  for (std::uint32_t m = 0; m < 3; ++m) chain[m]->set_delivered(3);
  chain.step_all(8);
  EXPECT_FALSE(chain.step_all());
  for (std::uint32_t m = 0; m < 3; ++m) EXPECT_FALSE(chain[m].out.any());
}

// Others wait no more for a member that has told so, and it may end.
TEST_F(ChainOfThree, TellsThatAllIsDeliveredOnceAllIsHandedOn) {
  chain[1].ring().close();
  chain.step(1);  // it does not know what member 2 needs, so its end is not handed on
  chain[1]->set_delivered(kDeliveredAll);
  chain.step(1);
  EXPECT_EQ(chain.table.delivered(1), 0U);
  chain.step_all(2);
  EXPECT_EQ(chain.table.delivered(1), 0U) << "it has handed its end on in this pass";
  chain.step(1);
  EXPECT_EQ(chain.table.delivered(1), kDeliveredAll);
}

TEST_F(ChainOfThree, AMemberThatHasWedgedTellsThatAllIsDelivered) {
  chain.step_all(3);
  chain[1]->wedge();
  chain[1]->set_delivered(kDeliveredAll);
  chain.step(1);
  EXPECT_EQ(chain.table.delivered(1), kDeliveredAll);
}

TEST_F(ChainOfThree, TellsItsPositionToAllWhenAsked) {
  chain.step_all(2);
  EXPECT_FALSE(chain[1]->tell_position()) << "it has delivered nothing";
  chain[1]->set_delivered(3);
  EXPECT_TRUE(chain[1]->tell_position());
  EXPECT_FALSE(chain[1]->tell_position()) << "nothing is new";
  chain.step(1);
  EXPECT_TRUE(chain[1].out.control);
  chain[1]->set_delivered(kDeliveredAll);
  EXPECT_FALSE(chain[1]->tell_position()) << "the end is told behind the last frame";
}

// Two senders' bytes wait for a lane that holds a few quanta: each has as many as the other.
TEST_F(ChainOfThree, SendersHaveTheLaneInTurn) {
  chain.step_all(2);
  SendRing::Space space;
  ASSERT_EQ(chain[1].ring().claim(1000, space), SendRing::Outcome::ok);
  chain[1].ring().commit(space);
  commit(1000);
  chain.step(0);
  chain.step(1);  // member 2 has taken nothing so far
  std::uint64_t own = 0;
  std::uint64_t other = 0;
  for (std::uint64_t at = 0; at < chain.word(1, chain.words().lane());) {
    std::array<std::uint64_t, kFrameHeader> header{};
    for (std::uint32_t i = 0; i < kFrameHeader; ++i) {
      header[i] = NativeMemory::load(chain.table.lane(1).data() + (at + i) * kGranule);
    }
    const Frame frame = unpack_frame(header);
    (frame.sender == SenderIndex{1} ? own : other) += frame.granules;
    at += kFrameHeader + frame.bytes_granules();
  }
  constexpr std::uint64_t kQuantum = 128 / 8;
  EXPECT_GT(own, 0U);
  EXPECT_GT(other, 0U);
  EXPECT_LE(own, other + kQuantum);
  EXPECT_LE(other, own + kQuantum);
}

// What member 1 says to member 2.
class CorruptNeighbour : public ChainOfThree {
 protected:
  CorruptNeighbour() { chain.step_all(2); }

  void expect_refused(std::string_view part) {
    chain.step(2);
    ASSERT_TRUE(chain[2]->violation());
    EXPECT_EQ(chain[2]->violation()->rank, Rank{1});
    EXPECT_THAT(chain[2]->violation()->what, HasSubstr(std::string(part)));
    EXPECT_FALSE(chain.step(2)) << "it stands still until the membership acts";
  }
  [[nodiscard]] static Frame frame() {
    return {.sender = 0, .granules = 2, .with_bytes = true, .sent = pack(SentState{1, 1, false})};
  }
};

TEST_F(CorruptNeighbour, WritesMoreThanItsLaneHolds) {
  chain.set(1, chain.words().lane(), 129);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, WritesHalfAHeader) {
  chain.set(1, chain.words().lane(), 2);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, NamesASenderThatThereIsNot) {
  Frame forged = frame();
  forged.sender = {3};
  chain.put_frame(1, forged);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, HandsUsOurOwn) {
  Frame forged = frame();
  forged.sender = {2};
  chain.put_frame(1, forged);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, LeavesAGap) {
  Frame forged = frame();
  forged.begin = 1;
  chain.put_frame(1, forged);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, TellsOfMoreBytesThanAreThere) {
  Frame forged = frame();
  forged.granules = 100;
  chain.put_frame(1, forged);
  chain.set(1, chain.words().lane(), 50);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, TellsOfMoreThanARing) {
  Frame forged = frame();
  forged.with_bytes = false;
  forged.granules = 513;
  chain.put_frame(1, forged);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, LeavesOutBytesThatWeNeed) {
  Frame forged = frame();
  forged.with_bytes = false;
  chain.put_frame(1, forged);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, TellsOfMoreRecordsThanRounds) {
  Frame forged = frame();
  forged.sent = pack(SentState{2, 1, false});
  chain.put_frame(1, forged);
  expect_refused("handed on");
}

// Each frame by itself would do, but the member behind us would take us for the liar.
TEST_F(CorruptNeighbour, RunsAheadByMoreThanARing) {
  Frame forged{.sender = 1, .granules = 512};
  chain.put_frame(1, forged);
  ASSERT_TRUE(chain.step(2)) << "its own records: their bytes are in our replica";
  forged.begin = 512;
  chain.put_frame(1, forged, kFrameHeader);
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, RunsAheadByMoreRoundsThanOneFrameMay) {
  SentState sent;
  for (std::uint64_t i = 0; i < 5; ++i) {
    sent.rounds += kRoundsMask / 4;
    chain.put_frame(1, {.sender = 1, .sent = pack(sent)}, i * kFrameHeader);
  }
  expect_refused("handed on");
}

TEST_F(CorruptNeighbour, IsBelievedAsFarAheadAsAllWindowsAllow) {
  chain.put_frame(1, {.sender = 1, .sent = pack(SentState{.rounds = kChainAheadMax})});
  EXPECT_TRUE(chain.step(2));
  EXPECT_FALSE(chain[2]->violation());
  chain.put_frame(1, {.sender = 1, .sent = pack(SentState{.rounds = kChainAheadMax + 1})},
                  kFrameHeader);
  expect_refused("handed on");
}

// Our own rounds follow those of the member behind us. That member knows nothing of rounds that
// another one invents for it, and would take us for the liar.
TEST_F(CorruptNeighbour, RunsAheadWithRoundsOfTheMemberBehindUs) {
  SentState sent;
  for (std::uint64_t i = 0; i < 2; ++i) {
    sent.rounds += kRoundsMask / 4;
    chain.put_frame(1, {.sender = 0, .sent = pack(sent)}, i * kFrameHeader);
  }
  expect_refused("handed on");
  chain.step(0);
  EXPECT_FALSE(chain[0]->violation());
}

TEST_F(CorruptNeighbour, HasTakenWhatWasNotHandedToIt) {
  chain.set(0, chain.words().taken(), 1);
  chain.step(2);
  ASSERT_TRUE(chain[2]->violation());
  EXPECT_EQ(chain[2]->violation()->rank, Rank{0}) << "the member behind member 2";
  EXPECT_THAT(chain[2]->violation()->what, HasSubstr("taken"));
}

TEST(MilestonesOfASender, AreToldOnceTheirGranulesAreHandedOn) {
  Milestones milestones;
  EXPECT_TRUE(milestones.empty());
  milestones.add(2, {1, 1, false});
  milestones.add(4, {2, 2, false});
  milestones.add(4, {2, 5, false});  // nulls take no space
  EXPECT_FALSE(milestones.covered_by(1));
  EXPECT_EQ(milestones.covered_by(3), (SentState{1, 1, false}));
  EXPECT_EQ(milestones.covered_by(9), (SentState{2, 5, false}));
  milestones.drop(3);
  EXPECT_FALSE(milestones.covered_by(3));
  milestones.drop(4);
  EXPECT_TRUE(milestones.empty());
}

TEST(MilestonesOfASender, KeepTheNewestIfThereAreTooMany) {
  Milestones milestones;
  for (std::uint64_t i = 1; i <= 2 * Milestones::kMax; ++i) milestones.add(i, {i, i, false});
  EXPECT_EQ(milestones.covered_by(Milestones::kMax - 1)->records, Milestones::kMax - 1);
  EXPECT_EQ(milestones.covered_by(2 * Milestones::kMax)->records, 2 * Milestones::kMax);
  EXPECT_EQ(milestones.covered_by(2 * Milestones::kMax - 1)->records, Milestones::kMax - 1);
  milestones.drop(2 * Milestones::kMax);
  EXPECT_TRUE(milestones.empty());
}

TEST(LaneWords, NeedsOfManySendersAreInSeveralWords) {
  const LaneWords words(130);
  EXPECT_EQ(words.needs(SenderIndex{0}).offset, words.needs(SenderIndex{62}).offset);
  EXPECT_NE(words.needs(SenderIndex{62}).offset, words.needs(SenderIndex{63}).offset);
  EXPECT_EQ(LaneWords::needs_bit(SenderIndex{63}), 1U);
  for (std::uint32_t s = 0; s < 130; ++s) {
    EXPECT_EQ(LaneWords::needs_bit(SenderIndex{s}) & LaneWords::kTold, 0U);
  }
  EXPECT_EQ(words.stable(SenderIndex{0}).offset, words.needs(SenderIndex{129}).offset + 8);
  EXPECT_EQ(words.done(SenderIndex{129}).offset + 8,
            ControlWords::bytes(130) + LaneWords::bytes(130));
}

}  // namespace
}  // namespace tutti::testing
