// The transfer of states over shared rows, with the members' passes and the applications' work
// done by hand.
#include "membership/state_transfer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "sst/memory.hpp"
#include "support/aligned_row.hpp"
#include "support/shared_fabric.hpp"

namespace tutti::testing {
namespace {

using ::testing::ElementsAre;

constexpr StateWords kWords{.offset = 64, .ring_bytes = 256};
constexpr std::size_t kPiece = 40;

std::string text_of(std::size_t bytes, char first = 'a') {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(first + static_cast<char>(i * 7 / 3 % 23)));
  }
  return text;
}

struct Application {
  std::vector<std::string> states;  // by group
  std::vector<bool> snapshots;      // by group: else it saves at once
  std::vector<std::string> loaded;  // by group, the states that were begun, after each other: "|"
  std::vector<std::uint64_t> offsets;  // where it was read
  std::size_t read_bytes = 0, loaded_bytes = 0;
  std::shared_ptr<int> held = std::make_shared<int>();  // one use for each snapshot there is
  bool save_fails = false, read_fails = false, load_fails = false;
};

class Site {
 public:
  Site(std::uint32_t slot, std::vector<AlignedRow>& rows, std::vector<std::string> states,
       std::vector<bool> snapshots)
      : fabric(rows), slot_(slot) {
    application.states = std::move(states);
    application.snapshots = std::move(snapshots);
    application.loaded.resize(application.states.size());
    std::vector<GroupState> groups;
    for (std::size_t g = 0; g < application.states.size(); ++g) groups.push_back(state(g));
    jobs = std::make_unique<StateJobs>(std::move(groups), kWords.piece_bytes());
    const RowOf row_of = [&rows](std::uint32_t peer) { return rows[peer].data(); };
    transfer =
        std::make_unique<StateTransfer<NativeMemory>>(kWords, *jobs, rows[slot].data(), row_of);
  }

  bool begin(const View& view) { return transfer->begin(view, slot_); }
  bool pass() { return transfer->step(fabric); }
  bool work() { return jobs->work(); }

  Application application;
  SharedFabric fabric;
  std::unique_ptr<StateJobs> jobs;
  std::unique_ptr<StateTransfer<NativeMemory>> transfer;

 private:
  GroupState state(std::size_t g) {
    GroupState out{.name = "g" + std::to_string(g)};
    Application& app = application;
    if (app.snapshots[g]) {
      out.snapshot = [&app, g]() -> Result<ReadSnapshot> {
        if (app.save_fails) return fail(ErrorCode::system, "no ink");
        return [&app, held = app.held, state = app.states[g]](
                   std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
          if (app.read_fails) return fail(ErrorCode::system, "no light");
          app.offsets.push_back(offset);
          const std::string part = offset < state.size() ? state.substr(offset, into.size()) : "";
          std::ranges::copy(std::as_bytes(std::span(part)), into.begin());
          app.read_bytes += part.size();
          return part.size();
        };
      };
    } else {
      out.save = [&app, g](const StateSink& write) -> Result<void> {
        if (app.save_fails) return fail(ErrorCode::system, "no ink");
        write(std::as_bytes(std::span(app.states[g])));
        return {};
      };
    }
    out.load = [&app, g](const StatePiece& piece) -> Result<void> {
      if (app.load_fails) return fail(ErrorCode::system, "no room");
      if (piece.first) app.loaded[g] += "|";
      app.loaded[g].append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
      app.loaded_bytes += piece.bytes.size();
      if (piece.last) app.loaded[g] += ".";
      return {};
    };
    return out;
  }

  const std::uint32_t slot_;
};

// Slots 0 .. survivors - 1 were there, the others join.
class StateTransferTest : public ::testing::Test {
 protected:
  void make(std::uint32_t survivors, std::uint32_t joiners, const std::vector<std::string>& states,
            const std::vector<bool>& snapshots) {
    sites_.clear();
    rows_.clear();
    view_ = {.id = 2, .members = {}, .survivors = survivors};
    for (std::uint32_t slot = 0; slot < survivors + joiners; ++slot) {
      rows_.emplace_back(kWords.offset + kWords.bytes());
      view_.members.push_back({slot, 100 + slot});
    }
    for (std::uint32_t slot = 0; slot < survivors + joiners; ++slot) {
      sites_.emplace_back(slot, rows_, states, snapshots);
    }
  }
  void begin() {
    for (Site& site : sites_) site.begin(view_);
  }
  Site& site(std::size_t at) { return sites_[at]; }
  Application& app(std::size_t at) { return sites_[at].application; }
  // Until nothing moves; false if that takes too long.
  bool run(const std::vector<std::size_t>& who) {
    for (int round = 0; round < 10'000; ++round) {
      bool moved = false;
      for (const std::size_t at : who) moved |= sites_[at].pass();
      for (const std::size_t at : who) moved |= sites_[at].work();
      if (!moved) return true;
    }
    return false;
  }
  void run_until_loaded(const std::vector<std::size_t>& who, std::size_t joiner,
                        std::size_t bytes) {
    while (app(joiner).loaded_bytes < bytes) {
      for (const std::size_t at : who) {
        sites_[at].pass();
        sites_[at].work();
      }
    }
  }
  void lose(std::uint32_t slot) {
    for (Site& site : sites_) site.transfer->gone(slot);
  }
  Taking taking(std::size_t at) { return sites_[at].transfer->taking(); }

  View view_;
  std::vector<AlignedRow> rows_;
  std::deque<Site> sites_;
};

TEST_F(StateTransferTest, StatesOfAnySizeComeWholeThroughASmallRing) {
  for (const std::size_t bytes : {0UL, 1UL, kPiece - 1, kPiece, kPiece + 1, 10'000UL}) {
    SCOPED_TRACE(bytes);
    rows_.clear();
    sites_.clear();
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

// The next view has a joiner of its own, whose turn comes once the others have what they need.
TEST_F(StateTransferTest, AJoinerOfTheNextViewComesAfterThoseOfThisOne) {
  make(2, 2, {text_of(2'000)}, {true});
  View first = view_;
  first.members.pop_back();
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

}  // namespace
}  // namespace tutti::testing
