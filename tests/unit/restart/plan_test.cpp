#include "restart/plan.hpp"

#include <gtest/gtest.h>

#include "unit/restart/some_views.hpp"

namespace tutti::restart {
namespace {

const Names kNames{"a", "b", "c", "d", "e"};

using testing::log_of;
using testing::told_of;
using testing::view_of;

Accepted accepted_of(std::uint64_t ballot, std::uint64_t follows, std::uint64_t id,
                     std::vector<std::uint32_t> members) {
  return {.ballot = ballot,
          .proposal = {.follows = follows, .next = view_of(id, std::move(members))}};
}

TEST(RestartQuorum, BeginsFromTheNewestInstalledView) {  // Z4
  const ViewRecord one = view_of(1, {0, 1, 2});
  const ViewRecord two = view_of(2, {0, 1});
  const Present present{{0, told_of({one})}, {1, told_of({one, two})}};
  EXPECT_EQ(chain_of(present), (std::vector{one, two}));
}

TEST(RestartQuorum, EndsAtTheLastViewThatAnybodyKnowsToBeConfirmed) {  // Z5
  const ViewRecord one = view_of(1, {0, 1, 2});
  const ViewRecord two = view_of(2, {0, 1});
  const ViewRecord three = view_of(3, {0, 1, 3});
  const Present present{{0, told_of({two})}, {1, told_of({one, two, three})}};
  EXPECT_EQ(chain_of(present), (std::vector{two, three}));
}

TEST(RestartQuorum, NeedsAMajorityOfEachView) {  // Z5
  const std::vector<ViewRecord> chain{view_of(1, {2}), view_of(2, {0, 1, 2}),
                                      view_of(3, {0, 2, 3})};
  Present present{{0, told_of(chain)}, {3, told_of(chain)}};
  EXPECT_EQ(to_string(awaited(chain, present), kNames),
            "view 1 of c: waits for c; view 2 of a, b, c: waits for b or c");
  present[2] = told_of(chain);
  EXPECT_TRUE(awaited(chain, present).empty());
}

TEST(RestartQuorum, HalfOfAViewIsNotEnough) {
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2, 3})};
  const Present present{{0, told_of(chain)}, {1, told_of(chain)}};
  EXPECT_EQ(to_string(awaited(chain, present), kNames), "view 1 of a, b, c, d: waits for c or d");
  EXPECT_EQ(to_string(awaited(chain, {{0, told_of(chain)}}), kNames),
            "view 1 of a, b, c, d: waits for 2 of b, c, d");
}

TEST(RestartQuorum, ADiskThatIsYoungerThanAViewHasNoVoteInIt) {
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2}), view_of(3, {0, 1, 2})};
  Present present{{0, told_of(chain)}, {2, told_of(chain)}};
  present[2].views.since = 3;
  EXPECT_EQ(to_string(awaited(chain, present), kNames), "view 1 of a, b, c: waits for b or c");
}

TEST(RestartAdoption, NothingIsAdoptedThatFollowsAnotherView) {
  const ViewRecord view = view_of(2, {0, 1, 2});
  Present present{{0, told_of({view})}, {1, told_of({view})}};
  present[0].views.accepted = accepted_of(1, 1, 3, {0, 1});
  EXPECT_FALSE(may_be_decided(view, present));
}

TEST(RestartAdoption, TheHighestBallotIsAdopted) {  // Z7
  const ViewRecord view = view_of(1, {0, 1, 2, 3, 4});
  Present present;
  for (std::uint32_t slot = 0; slot < 3; ++slot) present[slot] = told_of({view});
  present[0].views.accepted = accepted_of(1, 1, 2, {0, 1, 2});
  present[1].views.accepted = accepted_of(2, 1, 2, {1, 2, 3});
  EXPECT_EQ(may_be_decided(view, present), present[1].views.accepted->proposal);
}

TEST(RestartAdoption, CountsAProposalInAllItsBallots) {  // Z7
  const ViewRecord view = view_of(1, {0, 1, 2, 3, 4});
  Present present;
  for (std::uint32_t slot = 0; slot < 4; ++slot) present[slot] = told_of({view});
  present[0].views.accepted = accepted_of(1, 1, 2, {0, 1, 2});
  present[1].views.accepted = accepted_of(2, 1, 2, {0, 1, 2});
  EXPECT_EQ(may_be_decided(view, present), present[0].views.accepted->proposal);
}

TEST(RestartAdoption, WhatNoMajorityCanHaveAcceptedIsDropped) {  // Z7
  const ViewRecord view = view_of(1, {0, 1, 2});
  Present present;
  for (std::uint32_t slot = 0; slot < 3; ++slot) present[slot] = told_of({view});
  present[0].views.accepted = accepted_of(1, 1, 2, {0, 3, 4});
  EXPECT_FALSE(may_be_decided(view, present));
  present.erase(2);
  EXPECT_TRUE(may_be_decided(view, present));
}

TEST(RestartIds, AreOddAndAboveTheViewBefore) {
  EXPECT_EQ(restart_id(1), 3U);
  EXPECT_EQ(restart_id(2), 3U);
  EXPECT_EQ(restart_id(3), 5U);
}

TEST(RestartLogs, TheLongestLogSaysWhereTheCutIs) {  // Z8
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2})};
  const Present present{{0, told_of(chain, log_of({1}))}, {1, told_of(chain, log_of({1, 1, 1}))}};
  const auto plans = plan_logs(chain, present, kNames);
  ASSERT_TRUE(plans) << plans.error().message;
  EXPECT_EQ(plans->front().cut, 3U);
  EXPECT_EQ(plans->front().base_slot, 1U);
  EXPECT_EQ(plans->front().sources, (std::vector<Source>{{1, 0, 3}, {0, 0, 1}}));
}

TEST(RestartLogs, WhatALaterCutLeftOutDoesNotCount) {  // Z8
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2}), view_of(3, {0, 1}, 1)};
  // c has records of view 1 that view 3 left out; a has one that was given anew.
  const Present present{{0, told_of(chain, log_of({1, 3}))},
                        {2, told_of({chain[0]}, log_of({1, 1, 1, 1}))}};
  EXPECT_EQ(counted(log_of({1, 1, 1, 1}), chain), 1U);
  EXPECT_EQ(counted(log_of({1, 3}), chain), 2U);
  const auto plans = plan_logs(chain, present, kNames);
  ASSERT_TRUE(plans) << plans.error().message;
  EXPECT_EQ(plans->front().cut, 2U);
  EXPECT_EQ(plans->front().base_slot, 0U);
}

TEST(RestartLogs, CutsOfAllViewsOfTheChainCount) {  // Z8
  const std::vector<ViewRecord> chain{view_of(1, {0}), view_of(2, {0}, 1), view_of(3, {0}, 4)};
  EXPECT_EQ(counted(log_of({1, 1, 1}), chain), 1U);
  EXPECT_EQ(counted(log_of({1, 2, 2, 2, 2}), chain), 4U);
}

TEST(RestartLogs, OfTwoEquallyLongTheOneThatWasWrittenInALaterViewIsRight) {
  // The views between 1 and 5 are not known any more, and number 1 was given anew in one of them.
  const std::vector<ViewRecord> chain{view_of(5, {0, 1, 2}, 2)};
  const Present present{{0, told_of({view_of(1, {0, 1, 2})}, log_of({1, 1}))},
                        {1, told_of(chain, log_of({1, 3}))}};
  const auto plans = plan_logs(chain, present, kNames);
  ASSERT_TRUE(plans) << plans.error().message;
  EXPECT_EQ(plans->front().base_slot, 1U);
  EXPECT_EQ(plans->front().sources, (std::vector<Source>{{1, 0, 2}, {0, 0, 1}}));
}

TEST(RestartLogs, LogsThatDifferAreNamed) {
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2})};
  const Present present{{0, told_of(chain, log_of({1, 1}))},
                        {2, told_of(chain, log_of({1, 1}, 0, 1))}};
  const auto plans = plan_logs(chain, present, kNames);
  ASSERT_FALSE(plans);
  EXPECT_EQ(
      plans.error().message,
      "the logs of group 'log' at a and c differ before record 2, and no crash explains that; "
      "find out with `tutti log verify` and `tutti log dump` which one is wrong, and move the "
      "state directory of that node away");
}

TEST(RestartLogs, LogsOfViewsThatNoCutExplainsAreNamed) {
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2}), view_of(2, {0, 1, 2}, 1)};
  const Present present{{0, told_of(chain, log_of({1, 2}))},
                        {1, told_of(chain, log_of({2, 2, 2}))}};
  EXPECT_FALSE(plan_logs(chain, present, kNames));
}

TEST(RestartLogs, AnAdoptedViewSaysTheCutItself) {
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2})};
  const ViewRecord adopted = view_of(3, {0, 1}, 1);
  Present present{{0, told_of(chain, log_of({1, 1}))}};
  const auto plans = plan_logs(chain, present, kNames, &adopted);
  ASSERT_TRUE(plans);
  EXPECT_EQ(plans->front().cut, 1U);
  present[0].logs = {log_of({})};
  EXPECT_FALSE(plan_logs(chain, present, kNames, &adopted));
}

TEST(RestartLogs, AGroupThatNobodyHasIsNamed) {
  const std::vector<ViewRecord> chain{view_of(1, {0})};
  Present present{{0, told_of(chain)}};
  present[0].logs.clear();
  const auto plans = plan_logs(chain, present, kNames);
  ASSERT_FALSE(plans);
  EXPECT_NE(plans.error().message.find("'log'"), std::string::npos);
}

TEST(LogSummaries, ASharedBeginningIsFoundByViews) {  // SU1
  EXPECT_EQ(common(log_of({1, 1, 2, 2}), log_of({1, 1, 3})), 2U);
  EXPECT_EQ(common(log_of({1, 1, 2}), log_of({1, 1, 2, 2, 4})), 3U);
  EXPECT_EQ(common(log_of({1, 1, 2}), log_of({2, 2}, 2)), 3U);
  EXPECT_EQ(common(log_of({}), log_of({1})), 0U);
}

TEST(LogSummaries, OnlyWhatIsBehindTheLastGapCounts) {  // SU2
  LogSummary log = log_of({1, 1});
  add(log, {.seq = 5, .view = 2});
  EXPECT_EQ(log.whole_from, 5U);
  EXPECT_EQ(log.next, 6U);
  EXPECT_EQ(log.runs.size(), 1U);
}

TEST(LogSummaries, TheOldestRunsAreLeftOut) {
  LogSummary log{.group = "log"};
  for (std::uint64_t i = 0; i < kRunsMax + 10; ++i) add(log, {.seq = i, .view = i + 1});
  EXPECT_EQ(log.runs.size(), kRunsMax);
  EXPECT_EQ(log.runs.front().first, 10U);
  EXPECT_EQ(log.whole_from, 0U);
  EXPECT_EQ(log.view_at(9), 0U);
  EXPECT_EQ(log.view_at(10), 11U);
}

}  // namespace
}  // namespace tutti::restart
