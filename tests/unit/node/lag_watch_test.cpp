/// How long a member has delivered nothing, in time during which this node itself was looking; and
/// of whom a person is told.
#include "node/lag_watch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMs = 1'000'000;

// Node 'a' looks at 'b', which is always behind; what 'b' has delivered is for the test to say.
class LagWatching : public ::testing::Test {
 protected:
  void look(std::chrono::nanoseconds behind = 0ns) {
    watch_.look(1'000'000 * kMs + passed_ms_ * kMs);
    std::vector<MemberLag> lags(2);
    lags[0].member = "a";
    lags[1] = {.member = "b", .messages = 3, .bytes = 30, .behind = behind};
    watch_.take("g", lags, {9, position_});
  }
  // As a node that runs: a look every 50 ms.
  void go_on_for(std::uint64_t ms) {
    for (const std::uint64_t end = passed_ms_ + ms; passed_ms_ < end;) {
      passed_ms_ += 50;
      look();
    }
  }
  // As a process that is stopped for so long.
  void pause_for(std::uint64_t ms) {
    passed_ms_ += ms;
    look();
  }
  [[nodiscard]] std::chrono::nanoseconds still() { return watch_.still("g").at(1); }

  std::uint64_t passed_ms_ = 0;
  std::uint64_t position_ = 1;
  std::vector<std::string> told_;
  LogCallback log_ = [this](LogLevel, std::string_view text) { told_.emplace_back(text); };
  LagWatch watch_{"a", 800ms, 1s, log_};
};

TEST_F(LagWatching, IsExactToOneLookWhereTheNodeLooksAllTheTime) {
  look();
  go_on_for(300);
  EXPECT_EQ(still(), 300ms);
  ++position_;
  go_on_for(50);
  EXPECT_EQ(still(), 0ms) << "it has delivered something";
  go_on_for(2000);
  EXPECT_EQ(still(), 2s);
}

// A view may leave members out, bring others, and put all in another order.
TEST_F(LagWatching, FollowsEachMemberOverViews) {
  const auto see = [&](const std::vector<std::string>& members) {
    passed_ms_ += 50;
    watch_.look(1'000'000 * kMs + passed_ms_ * kMs);
    std::vector<MemberLag> lags;
    for (const std::string& member : members) lags.push_back({.member = member, .messages = 3});
    watch_.take("g", lags, std::vector<std::uint64_t>(members.size(), 1));
    return watch_.still("g");
  };
  using Times = std::vector<std::chrono::nanoseconds>;
  EXPECT_EQ(see({"a", "b", "c"}), (Times{0ms, 0ms, 0ms}));
  EXPECT_EQ(see({"a", "b", "c"}), (Times{50ms, 50ms, 50ms}));
  EXPECT_EQ(see({"c", "d", "a"}), (Times{100ms, 0ms, 100ms}));
  EXPECT_EQ(see({"d", "b"}), (Times{50ms, 0ms}));
  EXPECT_EQ(watch_.still("h"), Times{});
}

// V6: our own pause is nobody else's standing still.
TEST_F(LagWatching, DoesNotHoldItsOwnPausesAgainstOthers) {
  look();
  go_on_for(100);
  pause_for(60'000);
  EXPECT_GE(still(), 100ms);
  EXPECT_LT(still(), 300ms);
}

TEST_F(LagWatching, SeesAfterAPauseWhoIsReallyStuck) {
  look();
  go_on_for(100);
  pause_for(60'000);
  go_on_for(900);
  EXPECT_GE(still(), 1s);
  EXPECT_LT(still(), 1200ms);
}

TEST_F(LagWatching, HasNobodyBehindOnceTheNodeHasStopped) {
  look(100ms);
  ASSERT_EQ(watch_.behind().size(), 1U);
  EXPECT_EQ(watch_.behind()[0].lag.member, "b");
  watch_.stop();
  EXPECT_TRUE(watch_.behind().empty());
  EXPECT_EQ(watch_.of("g").size(), 2U) << "as it was last";
}

TEST_F(LagWatching, NamesWhoIsBehindAndWhenThatIsOver) {
  look(999ms);
  EXPECT_TRUE(told_.empty());
  look(1s);
  look(0ms);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[0], "member 'b' is behind in group 'g': 3 messages, 1.000 s behind");
  EXPECT_EQ(told_[1], "member 'b' has caught up in group 'g'");
}

}  // namespace
}  // namespace tutti
