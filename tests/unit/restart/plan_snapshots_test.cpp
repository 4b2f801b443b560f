// Logs that begin behind the first record: what can be said of two of them, and what a restart may
// do with them.
#include <gtest/gtest.h>

#include "unit/restart/some_views.hpp"

namespace tutti::restart {
namespace {

using testing::log_of;
using testing::told_of;
using testing::view_of;

const Names kThree{"a", "b", "c"};

LogSummary released(const std::vector<std::uint64_t>& views, std::uint64_t from,
                    std::uint64_t snapshot) {
  LogSummary log = log_of(views, from);
  if (views.empty()) log.whole_from = log.next = from;
  log.snapshot = snapshot;
  return log;
}

TEST(LogSummaries, FollowARelease) {
  const LogSummary whole = log_of({1, 1, 1, 3, 3, 5});
  LogSummary log = whole;
  release_before(log, 0);
  EXPECT_EQ(log, whole);
  release_before(log, 2);
  EXPECT_EQ(log.whole_from, 2U);
  EXPECT_EQ(log.view_at(2), 1U);
  EXPECT_EQ(log.runs.front().first, 2U);
  release_before(log, 4);
  EXPECT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.view_at(4), 3U);
  EXPECT_EQ(log.view_at(5), 5U);
  release_before(log, 5);
  EXPECT_EQ(log.runs.size(), 1U);
  release_before(log, 6);
  EXPECT_TRUE(log.runs.empty());
  EXPECT_EQ(log.next, log.whole_from);
}

TEST(LogSummaries, AreApartWhereNothingTellsOfWhatIsReleased) {
  const LogSummary base = released({5, 5, 7}, 4, 5);
  EXPECT_FALSE(is_apart(log_of({3, 3, 3, 3, 5}), base)) << "both have 4, of view 5";
  EXPECT_TRUE(is_apart(log_of({3, 3, 3, 3, 3}), base)) << "4 is of another view";
  EXPECT_TRUE(is_apart(log_of({3, 3, 3, 3}), base)) << "it ends where the other begins";
  EXPECT_TRUE(is_apart(log_of({3}), base));
  EXPECT_FALSE(is_apart(released({}, 0, 0), base)) << "it has nothing that could be wrong";
  EXPECT_FALSE(is_apart(base, log_of({3, 3, 3, 3, 3}))) << "that one has what comes before";
  EXPECT_FALSE(is_apart(released({3}, 4, 4), base)) << "both begin there";
  EXPECT_TRUE(is_apart(log_of({3, 3}), released({}, 4, 4)));
}

TEST(RestartSnapshots, AreToldWithTheSources) {
  const std::vector<ViewRecord> chain{view_of(5, {0, 1, 2}, 4)};
  const Present present{{0, told_of(chain, released({5, 5, 5}, 4, 6))},
                        {1, told_of(chain, released({5}, 4, 4))},
                        {2, told_of(chain, log_of({3, 3}))}};
  const auto plans = plan_logs(chain, present, kThree);
  ASSERT_TRUE(plans) << plans.error().message;
  EXPECT_EQ(plans->front().cut, 7U);
  EXPECT_EQ(plans->front().base_slot, 0U);
  EXPECT_EQ(plans->front().base.snapshot, 6U);
  // c has nothing that anybody could trust.
  EXPECT_EQ(plans->front().sources, (std::vector<Source>{{0, 4, 7, 6}, {1, 4, 5, 4}}));
}

// All that it has is its snapshot, and that is as far as the others have got.
TEST(RestartSnapshots, CountForALogWithoutRecords) {
  const std::vector<ViewRecord> chain{view_of(5, {0, 1}, 4)};
  const Present present{{0, told_of(chain, log_of({3, 3, 3}))},
                        {1, told_of(chain, released({}, 4, 4))}};
  const auto plans = plan_logs(chain, present, kThree);
  ASSERT_TRUE(plans) << plans.error().message;
  EXPECT_EQ(plans->front().cut, 4U);
  EXPECT_EQ(plans->front().base_slot, 1U);
  EXPECT_EQ(plans->front().sources, (std::vector<Source>{{1, 4, 4, 4}}));
}

TEST(RestartSnapshots, ThatCannotBeAreRefused) {
  for (const std::uint64_t snapshot : {3U, 8U}) {
    Encoder out;
    encode(out, released({5, 5, 5}, 4, snapshot));
    const std::vector<std::byte> bytes = out.take();
    Decoder in(bytes);
    (void)decode_summary(in);
    EXPECT_FALSE(in.done()) << snapshot << " is not between 4 and 7";
  }
}

}  // namespace
}  // namespace tutti::restart
