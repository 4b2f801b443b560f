/// What members accept and what they decide (M7), and why they say that a view ends (M6).
#include <gtest/gtest.h>

#include <string_view>

#include "unit/history/story.hpp"

namespace tutti::history::testing {
namespace {

constexpr std::uint64_t kThis = 0x11, kThat = 0x22;

/// Nodes 0, 1 and 2 are in view 1.
struct Vote {
  Vote() {
    for (std::uint16_t node = 0; node < 3; ++node) {
      story.begin(std::string(1, static_cast<char>('A' + node)), node);
    }
    story.first_view({kA, kB, kC});
  }

  Vote& accepts(LifeId life, std::uint32_t ballot, std::uint64_t what) {
    story.wait(1);
    story.note(life, make_accept(story.at(), what, ballot));
    return *this;
  }
  Vote& decides(LifeId life, std::uint64_t what) {
    story.wait(1);
    Event decide = make_event(EventKind::decide, story.at());
    decide.number = what;
    story.note(life, decide);
    return *this;
  }
  Vote& wedges(LifeId life, WedgeReason reason) {
    story.wait(1);
    story.note(life, make_wedge(story.at(), reason));
    return *this;
  }

  [[nodiscard]] bool finds(Property property, std::string_view what) const {
    const Report report = story.check();
    for (const Violation& violation : report.violations) {
      if (violation.property == property && violation.what.contains(what)) return true;
    }
    return false;
  }

  Story story;
};

TEST(Proposals, AMajorityDecides) {
  Vote vote;
  vote.accepts(kA, 1, kThis).accepts(kB, 1, kThis).decides(kA, kThis).decides(kC, kThis);
  EXPECT_FALSE(vote.story.check().found(Property::M7));
}

TEST(Proposals, OneOfThreeDoesNotDecide) {
  constexpr std::string_view kWhat = "decides what no majority of view 1 has accepted";
  Vote alone;
  EXPECT_TRUE(alone.accepts(kA, 1, kThis).decides(kA, kThis).finds(Property::M7, kWhat));
  Vote nobody;
  EXPECT_TRUE(nobody.accepts(kA, 1, kThat).decides(kB, kThis).finds(Property::M7, kWhat));
  Vote early;
  early.accepts(kA, 1, kThis).decides(kA, kThis).accepts(kB, 1, kThis);
  EXPECT_TRUE(early.finds(Property::M7, kWhat));
}

TEST(Proposals, VotesOfTwoBallotsDoNotAddUp) {
  Vote vote;
  vote.accepts(kA, 1, kThis).accepts(kB, 2, kThis).decides(kB, kThis);
  EXPECT_TRUE(vote.finds(Property::M7, "no majority"));
}

TEST(Proposals, ALeaderProposesOnce) {
  Vote vote;
  vote.accepts(kA, 1, kThis).accepts(kB, 1, kThat);
  EXPECT_TRUE(vote.finds(Property::M7, "different proposals of one leader"));
}

TEST(Proposals, WhatAMajorityAcceptedIsProposedAgain) {
  constexpr std::string_view kWhat = "though a majority had accepted the first";
  Vote vote;
  vote.accepts(kA, 1, kThis).accepts(kB, 1, kThis).accepts(kC, 2, kThat);
  EXPECT_TRUE(vote.finds(Property::M7, kWhat));
  Vote again;
  again.accepts(kA, 1, kThis).accepts(kB, 1, kThis).accepts(kC, 2, kThis).decides(kC, kThis);
  EXPECT_FALSE(again.story.check().found(Property::M7));
}

TEST(Proposals, WhatOneAcceptedMayBeReplaced) {
  Vote vote;
  vote.accepts(kA, 1, kThis).accepts(kB, 2, kThat).accepts(kC, 2, kThat).decides(kB, kThat);
  EXPECT_FALSE(vote.story.check().found(Property::M7));
}

TEST(Wedges, ForASuspicionHaveOne) {
  constexpr std::string_view kWhat = "for a suspicion that it does not have";
  Vote without;
  EXPECT_TRUE(without.wedges(kA, WedgeReason::suspicion).finds(Property::M6, kWhat));
  Vote with;
  with.story.note(kA, make_suspect(with.story.at(), with.story.ref(kB), SuspectReason::connection));
  EXPECT_FALSE(with.wedges(kA, WedgeReason::suspicion).finds(Property::M6, kWhat));
}

TEST(Wedges, ForOneThatLeavesComeAfterItAsked) {
  constexpr std::string_view kWhat = "though nobody has asked to";
  Vote without;
  EXPECT_TRUE(without.wedges(kA, WedgeReason::leave).finds(Property::M6, kWhat));
  Vote with;
  with.story.note(kB, make_event(EventKind::leave, with.story.at()));
  EXPECT_FALSE(with.wedges(kA, WedgeReason::leave).finds(Property::M6, kWhat));
}

TEST(Wedges, SomebodyIsFirst) {
  constexpr std::string_view kWhat = "is the first to end it, and says that others did before";
  Vote told;
  EXPECT_TRUE(
      told.wedges(kB, WedgeReason::told).wedges(kA, WedgeReason::join).finds(Property::M6, kWhat));
  Vote first;
  EXPECT_FALSE(
      first.wedges(kA, WedgeReason::join).wedges(kB, WedgeReason::told).finds(Property::M6, kWhat));
}

}  // namespace
}  // namespace tutti::history::testing
