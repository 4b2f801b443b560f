// The transfer of states from a giver whose application does not come back.
#include <gmock/gmock.h>

#include <algorithm>

#include "membership/view_words.hpp"
#include "unit/membership/state_sites.hpp"

namespace tutti::testing {
namespace {

class StuckGiver : public StateTransferTest {
 protected:
  // The first giver's application does nothing, its protocol goes on.
  void run_stuck(int rounds = 1'000) {
    for (int round = 0; round < rounds; ++round) {
      for (Site& each : sites_) each.pass();
      for (std::size_t at = 1; at < sites_.size(); ++at) site(at).work();
    }
  }
  // In small steps, with passes at each.
  void set_time(std::uint64_t now_ns) {
    while (now_ns_ < now_ns) {
      now_ns_ = std::min(now_ns, now_ns_ + kPatienceNs / 16);
      for (Site& each : sites_) each.transfer->set_time(now_ns_);
      for (Site& each : sites_) each.pass();
    }
  }

  std::uint64_t now_ns_ = 0;
};

TEST_F(StuckGiver, ThatCannotSaveIsLeftForTheOtherAfterSomePatience) {
  for (const bool snapshots : {true, false}) {
    make(2, 2, {text_of(2'000)}, {snapshots});
    now_ns_ = 0;
    begin();
    run_stuck();
    set_time(kPatienceNs - 1);
    run_stuck();
    EXPECT_EQ(app(2).loaded_bytes, 0U);
    set_time(kPatienceNs);
    run_stuck();
    for (const std::size_t joiner : {2, 3}) {
      EXPECT_EQ(taking(joiner), Taking::done);
      EXPECT_EQ(app(joiner).loaded[0], "|" + text_of(2'000) + ".");
    }
    EXPECT_TRUE(site(0).transfer->holds()) << "its application is still at it";
    ASSERT_TRUE(run({0, 1, 2, 3}));
    EXPECT_FALSE(site(0).transfer->holds());
    EXPECT_FALSE(site(0).transfer->is_needed());
    EXPECT_EQ(app(0).held.use_count(), 1);
  }
}

TEST_F(StuckGiver, ThatReadsNoFurtherIsLeftInTheMiddle) {
  const std::string state = text_of(5'000);
  make(2, 1, {state}, {true});
  begin();
  run_until_loaded({0, 1, 2}, 2, 2'000);
  run_stuck();
  const std::size_t loaded = app(2).loaded_bytes;
  ASSERT_LT(loaded, 5'000U);
  set_time(kPatienceNs);
  run_stuck();
  EXPECT_EQ(taking(2), Taking::done);
  EXPECT_EQ(app(2).loaded[0], "|" + state + ".");
  EXPECT_LE(app(1).read_bytes, 5'000 - loaded + kPiece) << "but one piece, to compare";
}

// The one that was left may give it to the next incarnation.
TEST_F(StuckGiver, IsNoReasonToEndTheStartIfTheOtherFails) {
  make(2, 1, {text_of(2'000)}, {true});
  app(1).read_fails = true;
  begin();
  run_stuck();
  set_time(kPatienceNs);
  run_stuck();
  EXPECT_EQ(taking(2), Taking::lost);
}

TEST_F(StuckGiver, IsNotLeftForOneThatIsNotReady) {
  make(2, 1, {text_of(2'000)}, {true});
  begin();
  for (std::uint64_t now = 0; now < 3 * kPatienceNs; ++now) {
    set_time(now);
    EXPECT_EQ(site(2).transfer->giver(), Slot{0});
  }
  ASSERT_TRUE(run({0, 2}));
  EXPECT_EQ(taking(2), Taking::done);
}

// The others let that one go.
TEST_F(StuckGiver, IsNotLeftForOneThatLeaves) {
  make(2, 1, {text_of(2'000)}, {true});
  begin();
  store_cell(rows_[1].data() + ViewWords::kLeaving, 1);
  run_stuck();  // the second has saved
  set_time(2 * kPatienceNs);
  EXPECT_EQ(site(2).transfer->giver(), Slot{0});
  ASSERT_TRUE(run({0, 2}));
  EXPECT_EQ(taking(2), Taking::done);
}

// The joiner stood still with all others: that says nothing of the giver.
TEST_F(StuckGiver, IsNotLeftAfterAStandstill) {
  make(2, 1, {text_of(2'000)}, {true});
  begin();
  run_stuck();
  for (Site& each : sites_) each.transfer->set_time(100 * kPatienceNs);
  run_stuck();
  EXPECT_EQ(site(2).transfer->giver(), Slot{0});
}

// There is none to go to.
TEST_F(StuckGiver, ThatFailsInTheEndWasTheLast) {
  for (const std::uint32_t givers : {1U, 2U}) {
    make(givers, 1, {text_of(2'000)}, {true});
    now_ns_ = 0;
    for (std::uint32_t giver = 0; giver < givers; ++giver) app(giver).save_fails = true;
    begin();
    if (givers == 2) {
      ASSERT_TRUE(run({0, 2}));
    }
    site(givers).pass();  // it has asked the last one
    set_time(2 * kPatienceNs);
    ASSERT_TRUE(run({givers - 1, givers}));
    EXPECT_EQ(taking(givers), Taking::failed);
  }
}

// The giver waits for room: that is no reason to leave it.
TEST_F(StuckGiver, IsNoneThatWaitsForTheJoiner) {
  make(2, 1, {text_of(2'000)}, {true});
  begin();
  for (std::uint64_t now = 0; now < 3 * kPatienceNs; ++now) {
    set_time(now);
    for (const std::size_t giver : {0, 1}) site(giver).work();
  }
  EXPECT_EQ(site(2).transfer->giver(), Slot{0});
  ASSERT_TRUE(run({0, 1, 2}));
  EXPECT_EQ(taking(2), Taking::done);
  EXPECT_EQ(app(1).read_bytes, 0U);
}

}  // namespace
}  // namespace tutti::testing
