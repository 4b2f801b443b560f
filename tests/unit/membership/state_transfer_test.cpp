// The transfer of states: what comes to joiners, whoever dies on the way.
#include <gmock/gmock.h>

#include <new>
#include <string>

#include "unit/membership/state_sites.hpp"

namespace tutti::testing {
namespace {

View without_last(View view) {
  std::vector<ViewMember> members = view.members.all();
  members.pop_back();
  view.members = IndexedBy<Rank, ViewMember>(std::move(members));
  return view;
}

using ::testing::ElementsAre;

TEST_F(StateTransferTest, StatesOfAnySizeComeWholeThroughASmallRing) {
  for (const std::size_t bytes : {0UL, 1UL, kPiece - 1, kPiece, kPiece + 1, 10'000UL}) {
    SCOPED_TRACE(bytes);
    const std::vector<std::string> states{text_of(bytes), text_of(bytes / 2), text_of(17)};
    make(2, 1, states, {true, false, true});
    begin();
    ASSERT_TRUE(run({0, 1, 2}));
    EXPECT_EQ(taking(2), Taking::done);
    for (std::size_t g = 0; g < states.size(); ++g) {
      EXPECT_EQ(app(2).loaded[g], "|" + states[g] + ".");
    }
    EXPECT_FALSE(site(0).transfer->gives());
    EXPECT_FALSE(site(1).transfer->gives());
  }
}

TEST_F(StateTransferTest, OnlyTheFirstGiverIsReadAndBothForgetTheirSnapshotsAtTheEnd) {
  make(3, 1, {text_of(5'000)}, {true});
  begin();
  EXPECT_EQ(app(0).held.use_count(), 1);
  run_until_loaded({0, 1, 2, 3}, 3, 1'000);
  EXPECT_EQ(app(0).held.use_count(), 2);
  EXPECT_EQ(app(1).held.use_count(), 2);
  EXPECT_EQ(app(2).held.use_count(), 1) << "it is no giver";
  ASSERT_TRUE(run({0, 1, 2, 3}));
  EXPECT_THAT(app(1).offsets, ElementsAre());
  EXPECT_EQ(app(0).held.use_count(), 1);
  EXPECT_EQ(app(1).held.use_count(), 1);
}

// Of the thread for states: what it throws would end the process.
TEST(StateJobs, ThatGetNoMemoryFail) {
  const auto throws = [](const auto&...) -> Result<void> { throw std::bad_alloc(); };
  std::string told;
  GroupState group{.name = "g", .save = throws, .load = throws};
  group.cannot_give = [&told](const Error& why) { told = why.message; };
  StateJobs jobs({group}, 64);
  for (const StateJob::Kind kind : {StateJob::Kind::save, StateJob::Kind::load}) {
    StateJob* const job = jobs.free();
    job->kind = kind;
    job->view = 1;
    jobs.ask();
    EXPECT_TRUE(jobs.work());
    ASSERT_EQ(jobs.done(), job);
    EXPECT_FALSE(job->result);
    jobs.take();
  }
  EXPECT_EQ(told, "what saves the state: no memory");
}

// The first joiner loads for long; others come and die meanwhile.
TEST_F(StateTransferTest, SnapshotsThatNobodyTakesAnyMoreAreForgottenAtOnce) {
  make(2, 2, {text_of(5'000)}, {true});
  begin();
  const std::uint32_t slot = 3;  // of those that come and die
  lose(slot);
  run_until_loaded({0, 1, 2}, 2, 500);
  for (std::uint64_t id = 3; id < 8; ++id) {
    const View next{
        .id = id,
        .members = {{Slot{0}, 100}, {Slot{1}, 101}, {Slot{2}, 102}, {Slot{slot}, 100 + id}},
        .survivors = 3};
    for (const std::size_t giver : {0, 1}) site(giver).begin(next);
    for (const std::size_t giver : {0, 1}) {
      while (site(giver).pass() || site(giver).work()) {
      }
      EXPECT_EQ(app(giver).held.use_count(), 3) << "for the first, and for the one that came";
      site(giver).transfer->gone(Slot{slot});
      while (site(giver).pass() || site(giver).work()) {
      }
      EXPECT_EQ(app(giver).held.use_count(), 2);
    }
  }
  ASSERT_TRUE(run({0, 1, 2}));
  EXPECT_EQ(taking(2), Taking::done);
}

TEST_F(StateTransferTest, NothingIsReadBeforeThereIsRoomForIt) {
  make(2, 1, {text_of(10'000)}, {true});
  begin();
  for (int round = 0; round < 1'000; ++round) {
    for (Site& each : sites_) each.pass();
    for (std::size_t giver : {0, 1}) site(giver).work();
    if (round % 10 == 0) site(2).work();  // it loads slowly
    const std::size_t under_way = app(0).read_bytes - app(2).loaded_bytes;
    ASSERT_LE(under_way, kWords.ring_bytes + 5 * kPiece);
  }
}

TEST_F(StateTransferTest, M9HoldsWhileStatesAreSavedButNotWhileTheyAreGiven) {
  make(2, 1, {text_of(1'000), text_of(1'000)}, {true, false});
  begin();
  for (int pass = 0; pass < 3; ++pass) {
    site(0).pass();
    EXPECT_TRUE(site(0).transfer->holds());
  }
  site(0).work();
  site(0).pass();
  EXPECT_TRUE(site(0).transfer->holds()) << "the second group's";
  site(0).work();
  site(0).pass();
  EXPECT_FALSE(site(0).transfer->holds());
  EXPECT_TRUE(site(0).transfer->gives());
  EXPECT_TRUE(site(2).transfer->holds()) << "it has no state yet";
}

TEST_F(StateTransferTest, M9HoldsWhileAStateIsSavedForNobodyAnyMore) {
  make(2, 1, {text_of(1'000), text_of(1'000)}, {false, false});
  begin();
  site(0).pass();
  lose(2);
  site(0).pass();
  EXPECT_TRUE(site(0).transfer->holds()) << "the application is at it";
  ASSERT_TRUE(run({0, 1}));
  EXPECT_FALSE(site(0).transfer->holds());
  EXPECT_FALSE(site(0).transfer->gives());
}

TEST_F(StateTransferTest, AnotherGiverGoesOnInTheMiddleOfItsSnapshot) {
  const std::string state = text_of(5'000);
  make(2, 1, {text_of(300), state}, {true, true});
  begin();
  run_until_loaded({0, 1, 2}, 2, 2'300);
  lose(0);
  ASSERT_TRUE(run({1, 2}));
  EXPECT_EQ(taking(2), Taking::done);
  EXPECT_EQ(app(2).loaded[1], "|" + state + ".");
  EXPECT_EQ(app(2).loaded[0], "|" + text_of(300) + ".");
  EXPECT_GE(app(1).offsets.front(), 2'000 - kPiece) << "what was loaded is not read again";
  EXPECT_LE(app(1).read_bytes, 5'000 - 2'000 + kPiece) << "but one piece, to compare";
}

TEST_F(StateTransferTest, AnotherGiverWhoseSnapshotDiffersBeginsAgain) {
  make(2, 1, {text_of(300), text_of(2'000)}, {true, true});
  const std::string other = text_of(2'000, 'A');
  app(1).states[1] = other;
  begin();
  run_until_loaded({0, 1, 2}, 2, 1'300);
  lose(0);
  ASSERT_TRUE(run({1, 2}));
  EXPECT_EQ(taking(2), Taking::done);
  EXPECT_TRUE(app(2).loaded[1].ends_with("|" + other + "."));
  EXPECT_TRUE(app(2).loaded[1].starts_with("|" + text_of(900)));
  EXPECT_EQ(app(2).loaded[0], "|" + text_of(300) + ".") << "that one was whole";
}

// The first piece that the other gives may be the one that is compared, and the next one wanted.
TEST_F(StateTransferTest, AnotherGiverWhoseFirstPieceDiffersBeginsAgain) {
  for (std::size_t loaded = 1; loaded <= 900; loaded += 50) {
    make(2, 1, {text_of(2'000)}, {true});
    const std::string other = text_of(2'000, 'A');
    app(1).states[0] = other;
    begin();
    run_until_loaded({0, 1, 2}, 2, loaded);
    lose(0);
    ASSERT_TRUE(run({1, 2})) << "lost after " << loaded << " bytes";
    EXPECT_EQ(taking(2), Taking::done) << "lost after " << loaded << " bytes";
    EXPECT_TRUE(app(2).loaded[0].ends_with("|" + other + "."));
  }
}

TEST_F(StateTransferTest, AStateThatIsSavedAtOnceBeginsAgainAndWholeOnesStay) {
  make(2, 1, {text_of(300), text_of(2'000)}, {false, false});
  begin();
  run_until_loaded({0, 1, 2}, 2, 1'300);
  lose(0);
  ASSERT_TRUE(run({1, 2}));
  EXPECT_EQ(taking(2), Taking::done);
  EXPECT_EQ(app(2).loaded[0], "|" + text_of(300) + ".");
  EXPECT_TRUE(app(2).loaded[1].starts_with("|" + text_of(900)));
  EXPECT_TRUE(app(2).loaded[1].ends_with("|" + text_of(2'000) + "."));
}

TEST_F(StateTransferTest, JoinersThatAreNotEquallyFarAllGoOnWithAnotherGiver) {
  const std::string state = text_of(3'000);
  make(2, 3, {text_of(500), state}, {true, false});
  begin();
  run_until_loaded({0, 1, 2, 3, 4}, 2, 1'500);
  lose(0);
  for (int round = 0; round < 20; ++round) {  // 3 and 4 hear of it later
    for (const std::size_t at : {1, 2}) {
      site(at).pass();
      site(at).work();
    }
  }
  ASSERT_TRUE(run({1, 2, 3, 4}));
  for (const std::size_t joiner : {2, 3, 4}) {
    EXPECT_EQ(taking(joiner), Taking::done);
    EXPECT_EQ(app(joiner).loaded[0], "|" + text_of(500) + ".");
    EXPECT_TRUE(app(joiner).loaded[1].ends_with("|" + state + "."));
  }
}

TEST_F(StateTransferTest, AnotherGivesWhatTheFirstCannotSaveOrRead) {
  for (const bool saves : {true, false}) {
    rows_.clear();
    sites_.clear();
    make(2, 1, {text_of(2'000)}, {true});
    (saves ? app(0).read_fails : app(0).save_fails) = true;
    begin();
    ASSERT_TRUE(run({0, 1, 2}));
    EXPECT_EQ(taking(2), Taking::done);
    EXPECT_EQ(app(2).loaded[0], "|" + text_of(2'000) + ".");
  }
}

TEST_F(StateTransferTest, ASnapshotThatCannotBeReadAnyMoreGoesOnFromAnother) {
  make(2, 1, {text_of(2'000)}, {true});
  begin();
  run_until_loaded({0, 1, 2}, 2, 1'000);
  app(0).read_fails = true;
  ASSERT_TRUE(run({0, 1, 2}));
  EXPECT_EQ(app(2).loaded[0], "|" + text_of(2'000) + ".");
}

TEST_F(StateTransferTest, WhatNobodyCanSaveEndsTheStart) {
  make(2, 1, {text_of(2'000)}, {false});
  app(0).save_fails = app(1).save_fails = true;
  begin();
  ASSERT_TRUE(run({0, 1, 2}));
  EXPECT_EQ(taking(2), Taking::failed);
  EXPECT_EQ(site(2).transfer->error().message, "no member that gives it could save it");
}

TEST_F(StateTransferTest, WhatIsLostWithBothGiversIsLost) {
  make(2, 1, {text_of(2'000)}, {true});
  begin();
  run_until_loaded({0, 1, 2}, 2, 1'000);
  lose(0);
  lose(1);
  EXPECT_EQ(taking(2), Taking::lost);
}

TEST_F(StateTransferTest, ARefusedPieceIsTheLast) {
  make(2, 1, {text_of(2'000)}, {true});
  app(2).load_fails = true;
  begin();
  ASSERT_TRUE(run({0, 1, 2}));
  EXPECT_EQ(taking(2), Taking::failed);
  EXPECT_EQ(site(2).transfer->error().message, "group 'g0': no room");
  EXPECT_EQ(app(2).loaded_bytes, 0U);
}

// Wherever it is: of a frame's header, or of the piece.
TEST_F(StateTransferTest, DamageInTheRingIsTakenForTheLossOfTheGiver) {
  for (std::size_t at = 0; at < kWords.ring_bytes; ++at) {
    sites_.clear();
    rows_.clear();
    make(2, 1, {text_of(2'000)}, {true});
    begin();
    run_until_loaded({0, 1, 2}, 2, 1'000);
    for (int round = 0; round < 10; ++round) {  // the ring fills up
      site(0).pass();
      site(0).work();
    }
    rows_[0].data()[kWords.offset + StateWords::kRing + at] ^= std::byte{1};
    ASSERT_TRUE(run({0, 1, 2}));
    EXPECT_EQ(taking(2), Taking::done);
    ASSERT_EQ(app(2).loaded[0], "|" + text_of(2'000) + ".") << "byte " << at;
    EXPECT_NE(app(1).read_bytes, 0U);
  }
}

// Of two views, one of which has not begun here; whoever gives is needed, also the second giver.
TEST_F(StateTransferTest, GiversAreNeededFromTheViewOnUntilAllWhoJoinHaveTheState) {
  make(3, 2, {text_of(2'000)}, {true});
  const View first = without_last(view_);
  for (const std::uint32_t at : {0U, 1U, 2U, 3U}) {
    site(at).transfer->expect(first, Slot{at});
    EXPECT_EQ(site(at).transfer->is_needed(), at < 2) << at;
    site(at).transfer->begin(first, Slot{at});
    EXPECT_EQ(site(at).transfer->is_needed(), at < 2) << at;
  }
  run_until_loaded({0, 1, 3}, 3, 500);
  EXPECT_THAT(site(0).transfer->takers(), ElementsAre(Slot{3}));
  View second = view_;
  second.id = 3;
  second.survivors = 4;
  for (const std::uint32_t at : {0U, 1U}) site(at).transfer->expect(second, Slot{at});
  ASSERT_TRUE(run({0, 1, 3}));
  EXPECT_EQ(taking(3), Taking::done);
  EXPECT_TRUE(site(0).transfer->is_needed()) << "by the one of the next view";
  for (const std::uint32_t at : {0U, 1U}) {
    site(at).transfer->begin(second, Slot{at});
    EXPECT_TRUE(site(at).transfer->is_needed());
    site(at).transfer->gone(Slot{4});
  }
  ASSERT_TRUE(run({0, 1}));
  for (const std::size_t at : {0, 1}) EXPECT_FALSE(site(at).transfer->is_needed()) << at;
}

// The next view has a joiner of its own, whose turn comes once the others have what they need.
TEST_F(StateTransferTest, AJoinerOfTheNextViewComesAfterThoseOfThisOne) {
  make(2, 2, {text_of(2'000)}, {true});
  const View first = without_last(view_);
  for (const std::size_t at : {0, 1, 2}) site(at).begin(first);
  run_until_loaded({0, 1, 2}, 2, 500);
  app(0).states[0] = app(1).states[0] = text_of(1'000, 'A');
  View second = view_;
  second.id = 3;
  second.survivors = 3;
  for (const std::size_t at : {0, 1, 3}) site(at).begin(second);
  ASSERT_TRUE(run({0, 1, 2, 3}));
  EXPECT_EQ(app(2).loaded[0], "|" + text_of(2'000) + ".");
  EXPECT_EQ(app(3).loaded[0], "|" + text_of(1'000, 'A') + ".");
}

// One that lies asks for the last piece that can be named, and there is room for more.
TEST_F(StateTransferTest, NoPieceIsReadBehindTheLastThatCanBeNamed) {
  make(2, 1, {text_of(5'000)}, {true});
  begin();
  const PieceAt last{.group = 0, .index = (std::uint64_t{1} << PieceAt::kIndexBits) - 1};
  store_cell(rows_[2].data() + kWords.offset + StateWords::kWanted[0], 1 + last.word());
  ASSERT_TRUE(run({0, 1}));
  EXPECT_EQ(app(0).offsets.size(), 1U);
}

}  // namespace
}  // namespace tutti::testing
