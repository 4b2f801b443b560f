/// What gives a member a reason to suspect another, and when one may stop as in a minority.
#include <gtest/gtest.h>

#include <string_view>

#include "unit/history/story.hpp"

namespace tutti::history::testing {
namespace {

/// Nodes 0, 1 and 2 are in view 1; members are suspected after 20 ms of silence.
struct Three {
  Three() {
    begin();
    story.first_view({kA, kB, kC});
    story.wait(100);
  }
  /// A loses B and is connected to it again before both are in their first view.
  explicit Three(std::uint64_t lost_before_ms) {
    begin();
    story.wait(100);
    fault(FaultKind::lost, 1, 0, 1);
    story.wait(lost_before_ms);
    story.first_view({kA, kB, kC});
  }

  void begin() {
    for (std::uint16_t node = 0; node < 3; ++node) {
      story.begin(std::string(1, static_cast<char>('A' + node)), node);
    }
  }

  void fault(FaultKind kind, std::uint16_t node, std::uint16_t second, std::uint64_t ms) {
    story.note_harness(make_fault(EventKind::fault_begin, story.at(), kind, node, second));
    story.wait(ms);
    story.note_harness(make_fault(EventKind::fault_end, story.at(), kind, node, second));
  }
  void suspects(LifeId by, LifeId whom) {
    story.note(by, make_suspect(story.at(), story.ref(whom), SuspectReason::told));
  }
  void stops(LifeId life, StopReason reason) { story.note(life, make_stopped(story.at(), reason)); }
  void is_evicted(LifeId life) {
    story.note(life, make_event(EventKind::evicted, story.at()));
    stops(life, StopReason::failure);
  }

  [[nodiscard]] bool finds(Property property, std::string_view what) const {
    const Report report = story.check();
    for (const Violation& violation : report.violations) {
      if (violation.property == property && violation.what.contains(what)) return true;
    }
    return false;
  }
  [[nodiscard]] bool finds_hearable() const { return finds(Property::M6, "which it could hear"); }
  [[nodiscard]] bool finds_not_alone() const {
    return finds(Property::M10, "though a majority of that view and it trust each other");
  }

  Story story;
};

TEST(Suspicions, NeedAReason) {
  Three three;
  three.suspects(kA, kB);
  EXPECT_TRUE(three.finds_hearable());
}

TEST(Suspicions, MayComeFromSilence) {
  for (const FaultKind kind : {FaultKind::link, FaultKind::slow}) {
    Three three;
    three.fault(kind, 1, 0, 20);
    three.suspects(kA, kB);
    EXPECT_FALSE(three.finds_hearable());
  }
  Three paused;
  paused.fault(FaultKind::pause, 1, kNoNode, 20);
  paused.suspects(kA, kB);
  EXPECT_FALSE(paused.finds_hearable());
}

TEST(Suspicions, MayComeFromSilencesCloseToEachOther) {
  Three three;
  for (int i = 0; i < 4; ++i) {
    three.fault(FaultKind::link, 1, 0, 4);
    three.story.wait(2);
  }
  three.suspects(kA, kB);
  EXPECT_FALSE(three.finds_hearable());
}

TEST(Suspicions, DoNotComeFromAShortSilence) {
  Three three;
  three.fault(FaultKind::pause, 1, kNoNode, 5);
  three.suspects(kA, kB);
  EXPECT_TRUE(three.finds_hearable());
}

TEST(Suspicions, DoNotComeFromASilenceOfLongAgo) {
  Three three;
  three.fault(FaultKind::pause, 1, kNoNode, 20);
  three.story.wait(20);
  three.suspects(kA, kB);
  EXPECT_TRUE(three.finds_hearable());
}

TEST(Suspicions, DoNotComeFromWhatAnotherCannotHear) {
  Three three;
  three.fault(FaultKind::link, 1, 2, 20);
  three.fault(FaultKind::link, 0, 1, 20);
  three.suspects(kA, kB);
  EXPECT_TRUE(three.finds_hearable());
}

TEST(Suspicions, DoNotComeFromAPauseOfOnesOwn) {
  Three three;
  three.story.note_harness(
      make_fault(EventKind::fault_begin, three.story.at(), FaultKind::pause, 0));
  three.fault(FaultKind::pause, 1, kNoNode, 20);
  three.story.note_harness(make_fault(EventKind::fault_end, three.story.at(), FaultKind::pause, 0));
  three.suspects(kA, kB);
  EXPECT_TRUE(three.finds_hearable());
}

TEST(Suspicions, MayComeFromALostConnectionUpToTheNext) {
  Three three;
  three.story.note_harness(
      make_fault(EventKind::fault_begin, three.story.at(), FaultKind::lost, 1, 0));
  three.suspects(kA, kB);
  EXPECT_FALSE(three.finds_hearable());
  Three again;
  again.fault(FaultKind::lost, 1, 0, 5);
  again.suspects(kA, kB);
  EXPECT_TRUE(again.finds_hearable());
}

TEST(Suspicions, MayComeFromAConnectionLostJustBeforeTheFirstView) {
  Three three(5);
  three.suspects(kA, kB);
  EXPECT_FALSE(three.finds_hearable());
  Three long_before(50);
  long_before.suspects(kA, kB);
  EXPECT_TRUE(long_before.finds_hearable());
  Three later(5);
  later.story.wait(5);
  later.suspects(kA, kB);
  EXPECT_TRUE(later.finds_hearable());
}

TEST(Suspicions, OfTheDeadHaveAReason) {
  Three three;
  three.story.lives[kB].crashed = true;
  three.story.fault(EventKind::fault_begin, FaultKind::crash, 1);
  three.suspects(kA, kB);
  EXPECT_FALSE(three.finds_hearable());
}

TEST(Suspicions, PassOn) {
  Three three;
  three.fault(FaultKind::link, 1, 0, 20);
  three.suspects(kA, kB);
  three.story.wait(50);
  three.suspects(kC, kB);
  EXPECT_FALSE(three.finds_hearable());
}

TEST(Suspicions, GoOnInTheNextView) {
  Three three;
  three.fault(FaultKind::link, 1, 0, 20);
  three.suspects(kA, kB);
  three.story.wait(50);
  three.story.change_view({});
  three.suspects(kA, kB);
  EXPECT_FALSE(three.finds_hearable());
}

TEST(Suspicions, AreNotReturned) {
  Three three;
  three.fault(FaultKind::link, 1, 0, 20);
  three.suspects(kA, kB);
  three.story.wait(1);
  three.suspects(kB, kA);
  EXPECT_TRUE(three.finds_hearable());
}

TEST(Suspicions, AMemberThatTrustsAMajorityDoesNotStop) {
  Three three;
  three.fault(FaultKind::link, 1, 0, 20);
  three.suspects(kA, kB);
  three.story.wait(100);
  three.stops(kA, StopReason::minority);
  EXPECT_TRUE(three.finds_not_alone());
}

TEST(Suspicions, AMemberThatSuspectsHalfOfItsViewStops) {
  Three three;
  three.fault(FaultKind::link, 1, 0, 20);
  three.suspects(kA, kB);
  three.fault(FaultKind::link, 2, 0, 20);
  three.suspects(kA, kC);
  three.stops(kA, StopReason::minority);
  EXPECT_FALSE(three.finds_not_alone());
}

TEST(Suspicions, AMemberThatHalfOfItsViewSuspectsStopsAfterATime) {
  for (const std::uint64_t ms : {5, 20}) {
    Three three;
    three.fault(FaultKind::link, 0, 1, 20);
    three.suspects(kB, kA);
    three.suspects(kC, kA);
    three.story.wait(ms);
    three.stops(kA, StopReason::minority);
    EXPECT_EQ(three.finds_not_alone(), ms == 5);
  }
}

TEST(Suspicions, NobodyIsEvictedWithoutOne) {
  constexpr std::string_view kWhat = "says that it was evicted though nobody suspects it";
  Three three;
  three.is_evicted(kA);
  EXPECT_TRUE(three.finds(Property::M6, kWhat));
  Three suspected;
  suspected.suspects(kB, kA);
  suspected.is_evicted(kA);
  EXPECT_FALSE(suspected.finds(Property::M6, kWhat));
}

}  // namespace
}  // namespace tutti::history::testing
