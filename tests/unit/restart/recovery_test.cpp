// A node from its start until it runs: new groups, restarts, founders that go down.
#include "restart/recovery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/restart/recovery_trio.hpp"

namespace tutti::restart {
namespace {

using ::testing::HasSubstr;
using testing::RecoveryTrio;
using testing::view_of;
using Installed = Recovery::Installed;
using Stage = Recovery::Stage;

const ViewRecord kOne = view_of(1, {0, 1, 2});

// After `founding`, or later.
Views views_in(std::uint32_t slot, std::vector<ViewRecord> chain, std::uint64_t origin = 7) {
  const Names names{"a", "b", "c"};
  return {
      .node = names[slot], .nodes = names, .origin = origin, .since = 1, .chain = std::move(chain)};
}

TEST(Recovery, ANewGroupBeginsOnceAllNodesAreThere) {
  RecoveryTrio trio;
  trio.start(0, std::nullopt);
  trio.start(1, views_in(1, {kOne}));
  trio.connect_all();
  trio.deliver();
  trio.tick();
  EXPECT_EQ(trio.at(0).stage(), Stage::fresh);
  EXPECT_FALSE(trio.members[0].on_disk());
  trio.start(2, std::nullopt);
  trio.connect_all();
  trio.deliver();
  trio.tick();
  for (RecoveryTrio::Member& one : trio.members) {
    ASSERT_EQ(one.recovery->stage(), Stage::founds) << one.recovery->why();
    EXPECT_EQ(*one.recovery->founds(), view_of(3, {0, 1, 2}));
    EXPECT_EQ(one.on_disk()->origin, 7U);
    EXPECT_EQ(one.on_disk()->since, 1U);
    EXPECT_FALSE(one.whole_at);
  }
  trio.found({0, 1, 2});
  for (RecoveryTrio::Member& one : trio.members) {
    EXPECT_EQ(one.recovery->stage(), Stage::runs);
    EXPECT_EQ(one.whole_at, 0U);
    EXPECT_EQ(one.recovery->why(), "");
  }
}

TEST(Recovery, NodesThatWereInNoGroupWaitAndSayForWhat) {
  RecoveryTrio trio;
  trio.start(0, std::nullopt);
  EXPECT_THAT(trio.at(0).why(), HasSubstr("it waits for b, c"));
  trio.start(1, std::nullopt);
  trio.start(2, std::nullopt);
  trio.connect_all();
  trio.deliver();
  trio.tick();
  trio.tick();
  for (RecoveryTrio::Member& one : trio.members) {
    EXPECT_EQ(one.recovery->stage(), Stage::fresh);
    EXPECT_THAT(one.recovery->why(), HasSubstr("`tutti bootstrap`"));
    EXPECT_FALSE(one.on_disk());
  }
}

// RY1: c has lost its disk, and had a vote.
TEST(Recovery, ANodeWithoutAVoteDoesNotHelpNodesThatAreBack) {
  RecoveryTrio trio;
  trio.start(0, views_in(0, {kOne, view_of(3, {0, 1, 2})}));
  trio.start(2, std::nullopt);
  trio.connect_all();
  trio.deliver();
  trio.tick();
  EXPECT_EQ(trio.at(0).stage(), Stage::back);
  EXPECT_EQ(trio.at(2).stage(), Stage::fresh);
  EXPECT_THAT(trio.at(2).why(), HasSubstr("it has no vote"));
  trio.start(1, std::nullopt);
  trio.connect_all();
  trio.deliver();
  trio.tick();
  EXPECT_EQ(trio.at(1).stage(), Stage::fresh);
  EXPECT_FALSE(trio.members[1].on_disk());
}

TEST(Recovery, OfTwoFoundingsTheOneInTheLowestSlotCounts) {
  RecoveryTrio trio;
  trio.start(0, std::nullopt);
  trio.start(1, views_in(1, {kOne}, 8));
  trio.start(2, views_in(2, {kOne}, 9));
  trio.connect_all();
  trio.deliver();
  trio.tick();
  for (RecoveryTrio::Member& one : trio.members) {
    EXPECT_EQ(one.recovery->stage(), Stage::founds) << one.recovery->why();
    EXPECT_EQ(one.on_disk()->origin, 8U);
  }
}

TEST(Recovery, AFoundingBesideAGroupIsAnError) {
  RecoveryTrio trio;
  trio.start(0, views_in(0, {view_of(3, {0, 1, 2}, 1)}), {1});
  trio.start(1, views_in(1, {kOne}, 8));
  trio.connect_all();
  trio.deliver();
  ASSERT_TRUE(trio.at(1).error());
  EXPECT_EQ(trio.at(1).error()->code, ErrorCode::invalid_argument);
  EXPECT_THAT(trio.at(1).why(), HasSubstr("start this node again without bootstrap"));
  EXPECT_FALSE(trio.at(0).error());
}

TEST(Recovery, NodesOfTwoGroupsDoNotCountForEachOther) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2}, 1)};
  trio.start(0, views_in(0, chain), {1});
  trio.start(1, views_in(1, chain, 8), {1});
  trio.connect_all();
  trio.deliver();
  trio.tick();
  EXPECT_EQ(trio.at(0).stage(), Stage::back);
  EXPECT_THAT(trio.at(0).why(), HasSubstr("b belongs to a group that was founded another time"));
}

TEST(Recovery, AllComeBackWithTheLongestLog) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2})};
  trio.start(0, views_in(0, chain), {3});
  trio.start(1, views_in(1, chain), std::vector<std::uint64_t>(30, 3));
  trio.start(2, views_in(2, chain));
  trio.connect_all();
  trio.deliver();
  trio.found({0, 1, 2});
  for (RecoveryTrio::Member& one : trio.members) {
    EXPECT_EQ(one.whole_at, 30U);
    EXPECT_EQ(one.writer->digest(), trio.members[1].writer->digest());
    EXPECT_EQ(one.on_disk()->installed(), view_of(5, {0, 1, 2}, 30));
  }
}

// The view can only begin with all its members; the others begin again without b.
TEST(Recovery, AFounderThatGoesDownMakesTheOthersBeginAgain) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2})};
  for (std::uint32_t slot = 0; slot < 3; ++slot) trio.start(slot, views_in(slot, chain), {3});
  trio.connect_all();
  trio.deliver();
  trio.stop(1);
  for (const std::uint32_t slot : {0U, 2U}) {
    ASSERT_EQ(trio.at(slot).stage(), Stage::founds);
    EXPECT_TRUE(trio.at(slot).founds_in_vain());
    EXPECT_EQ(trio.at(slot).install(*trio.at(slot).founds()), Installed::never);
    trio.at(slot).begin_again();
    EXPECT_FALSE(trio.at(slot).founds());
    trio.deliver();
  }
  trio.tick();
  trio.found({0, 2});
  EXPECT_EQ(trio.members[0].on_disk()->installed(), view_of(7, {0, 2}, 1));
}

// a and b are not connected, so that a loses no connection when b goes down.
TEST(Recovery, AFounderHearsThatAnotherHasBegunAgain) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {2, 0, 1})};
  for (std::uint32_t slot = 0; slot < 3; ++slot) trio.start(slot, views_in(slot, chain), {3});
  trio.connect_all();
  trio.deliver();
  ASSERT_EQ(trio.at(2).stage(), Stage::founds);
  const ViewRecord view = *trio.at(2).founds();
  EXPECT_FALSE(trio.at(2).founds_in_vain());
  trio.say(1, 2, Hello{{.views = views_in(1, chain)}});
  EXPECT_FALSE(trio.at(2).founds_in_vain());
  trio.say(1, 2, Runs{{.views = views_in(1, {view})}});
  EXPECT_FALSE(trio.at(2).founds_in_vain());
  trio.say(1, 2, Hello{{.views = views_in(1, {view})}});
  EXPECT_TRUE(trio.at(2).founds_in_vain());
}

// b and c are connected only once both found the view: neither has begun again.
TEST(Recovery, FoundersMayMeetLate) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2})};
  for (std::uint32_t slot = 0; slot < 3; ++slot) trio.start(slot, views_in(slot, chain), {3});
  trio.connect(0, 1);
  trio.connect(0, 2);
  trio.deliver();
  trio.tick();
  for (const std::uint32_t slot : {1U, 2U}) ASSERT_EQ(trio.at(slot).stage(), Stage::founds);
  trio.connect(1, 2);
  trio.deliver();
  trio.found({0, 1, 2});
}

TEST(Recovery, InstallsOnlyWhatItMayEnter) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2})};
  trio.start(0, views_in(0, chain), {3});
  EXPECT_EQ(trio.at(0).install(view_of(4, {0, 1, 2}, 1)), Installed::never);
  trio.start(1, views_in(1, chain), {3});
  trio.connect_all();
  trio.deliver();
  trio.tick();
  ASSERT_EQ(trio.at(0).stage(), Stage::founds);
  EXPECT_EQ(trio.at(0).install(view_of(4, {0, 1, 2}, 1)), Installed::never);
  trio.found({0, 1});
  // A member: the next view, and no other.
  EXPECT_EQ(trio.at(0).install(view_of(7, {0, 1}, 1)), Installed::not_yet);
  EXPECT_EQ(trio.at(0).install(view_of(6, {0, 1}, 1)), Installed::yes);
  EXPECT_EQ(trio.at(0).install(view_of(6, {0, 1}, 1)), Installed::yes);
  EXPECT_EQ(trio.members[0].on_disk()->chain,
            (std::vector{view_of(5, {0, 1}, 1), view_of(6, {0, 1}, 1)}));
  trio.at(0).confirm(6);
  EXPECT_EQ(trio.members[0].on_disk()->chain, std::vector{view_of(6, {0, 1}, 1)});
}

// Z12.
TEST(Recovery, NeverEntersAViewFromWhichItHasBegunARestart) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2})};
  Views views = views_in(2, chain);
  views.accepted = Accepted{.ballot = 1, .proposal = {.follows = 3, .next = view_of(4, {0, 2}, 1)}};
  trio.start(2, views, {3});
  trio.start(1, views_in(1, {chain[0], view_of(4, {0, 2}, 1)}), {3});
  trio.connect(1, 2);
  trio.say(1, 2, Prepare{restart_ballot(1, 1), {chain[0], view_of(4, {0, 2}, 1)}});
  ASSERT_EQ(trio.members[2].on_disk()->promised.view, 4U);
  trio.say(1, 2,
           Runs{{.views = views_in(1, {chain[0], view_of(4, {0, 2}, 1)}),
                 .logs = {testing::log_of({3})}}});
  ASSERT_EQ(trio.at(2).stage(), Stage::joins);
  EXPECT_EQ(trio.at(2).install(view_of(4, {0, 2}, 1)), Installed::never);
  EXPECT_EQ(trio.at(2).install(view_of(5, {0, 2}, 1)), Installed::yes);
}

TEST(Recovery, AnAcceptanceIsOnDisk) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2})};
  for (std::uint32_t slot = 0; slot < 3; ++slot) trio.start(slot, views_in(slot, chain));
  trio.connect_all();
  trio.deliver();
  trio.found({0, 1, 2});
  const Accepted accepted{.ballot = 1, .proposal = {.follows = 5, .next = view_of(6, {0, 1}, 2)}};
  trio.at(0).accept(accepted);
  EXPECT_EQ(trio.members[0].on_disk()->accepted, accepted);
}

TEST(Recovery, AnErrorOfItsDiskEndsIt) {
  RecoveryTrio trio;
  const std::vector<ViewRecord> chain{view_of(3, {0, 1, 2})};
  for (std::uint32_t slot = 0; slot < 3; ++slot) trio.start(slot, views_in(slot, chain));
  trio.connect_all();
  trio.deliver();
  trio.found({0, 1, 2});
  trio.members[0].disk.on_operation([](const tutti::testing::DiskOperation& operation) {
    return operation.step == tutti::testing::DiskStep::sync ? tutti::testing::DiskFate::io_error
                                                            : tutti::testing::DiskFate::done;
  });
  EXPECT_EQ(trio.at(0).install(view_of(6, {0, 1}, 0)), Installed::never);
  ASSERT_TRUE(trio.at(0).error());
  EXPECT_THAT(trio.at(0).why(), HasSubstr("/s/views"));
  trio.at(0).tick();
  trio.deliver();
}

}  // namespace
}  // namespace tutti::restart
