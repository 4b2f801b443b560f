/// D15: what a member must have delivered when a barrier returns.
#include <gtest/gtest.h>

#include "history/text.hpp"
#include "unit/history/story.hpp"

namespace tutti::history::testing {
namespace {

class Barriers : public ::testing::Test {
 protected:
  Barriers() { story_.options.groups.clear(); }

  void begin(Level level) {
    a_ = story_.begin("A", 0);
    b_ = story_.begin("B", 1);
    c_ = story_.begin("C", 2);
    story_.add_group(0, level);
    story_.first_view({a_, b_, c_});
  }
  /// Everybody could deliver it; nobody does yet.
  void message() {
    story_.send(a_, 0);
    ASSERT_TRUE(story_.order(0, a_));
  }
  void deliver(LifeId life) {
    ASSERT_TRUE(story_.deliver(life, 0));
    story_.wait(1);
  }
  void call(LifeId life) { note(life, EventKind::barrier); }
  void back(LifeId life) { note(life, EventKind::barrier_ok); }
  [[nodiscard]] bool is_stale() const { return story_.check().found(Property::D15); }

  Story story_;
  LifeId a_ = 0, b_ = 0, c_ = 0;

 private:
  void note(LifeId life, EventKind kind) {
    story_.note(life, make_barrier(kind, story_.at(0), Ticket{7}));
    story_.wait(1);
  }
};

TEST_F(Barriers, ReturnOnceAllIsDeliveredThatAnybodyHad) {
  begin(Level::atomic);
  message();
  deliver(a_);
  call(b_);
  deliver(b_);
  back(b_);
  deliver(c_);
  const history::Report report = story_.check();
  EXPECT_TRUE(report.good()) << to_string(report);
}

TEST_F(Barriers, AreStaleWithoutAMessageThatAnotherHadDelivered) {
  begin(Level::atomic);
  message();
  message();
  deliver(a_);
  deliver(a_);
  deliver(b_);
  call(b_);
  back(b_);
  EXPECT_TRUE(is_stale());
  EXPECT_NE(to_string(story_.check()).find("when a barrier returns"), std::string::npos);
}

TEST_F(Barriers, NeedNotWaitForWhatIsDeliveredDuringTheCall) {
  begin(Level::atomic);
  message();
  call(b_);
  deliver(a_);
  back(b_);
  deliver(b_);
  EXPECT_FALSE(is_stale());
}

TEST_F(Barriers, CountWhatACrashedMemberHadDelivered) {
  begin(Level::atomic);
  message();
  deliver(c_);
  story_.lives[c_].crashed = true;
  call(b_);
  back(b_);
  deliver(b_);
  EXPECT_TRUE(is_stale());
}

TEST_F(Barriers, OfAJoinerBeginWithItsState) {
  begin(Level::atomic);
  message();
  deliver(a_);
  const LifeId joiner = story_.begin("D", 3);
  story_.change_view({.joins = {joiner}});  // all deliver the message, the state has it
  call(joiner);
  back(joiner);
  EXPECT_FALSE(is_stale());
  message();
  deliver(a_);
  call(joiner);
  back(joiner);
  EXPECT_TRUE(is_stale());
}

TEST_F(Barriers, OfAJoinerWithoutAStateAreJudgedByItsFirstDelivery) {
  begin(Level::atomic);
  message();
  deliver(a_);
  const LifeId joiner = story_.begin("D", 3);
  story_.change_view({.joins = {joiner}});
  story_.erase_all(joiner, EventKind::snapshot_in);
  message();
  call(joiner);
  back(joiner);
  deliver(joiner);
  EXPECT_FALSE(is_stale());
  message();
  deliver(a_);
  deliver(a_);
  // As if it had called after that, and returned before its own first delivery.
  story_.get(joiner, EventKind::barrier).time_ns = story_.now_ns;
  EXPECT_TRUE(is_stale());
}

TEST_F(Barriers, AreNotJudgedBelowAtomic) {
  begin(Level::agreed);
  message();
  deliver(a_);
  call(b_);
  back(b_);
  EXPECT_FALSE(is_stale());
}

}  // namespace
}  // namespace tutti::history::testing
