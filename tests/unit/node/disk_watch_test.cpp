/// For whose disk a durable group waits: named once it has stood still for slow_after, and never
/// this node's own.
#include "node/disk_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "multicast/multicast.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kMs = 1'000'000;

// Node 'a' looks at what 'a', 'b' and 'c' say of their logs, every 50 ms.
class DiskWatching : public ::testing::Test {
 protected:
  void go_on_for(std::uint64_t ms) {
    for (const std::uint64_t end = passed_ms_ + ms; passed_ms_ < end;) {
      passed_ms_ += 50;
      watch_.take(passed_ms_ * kMs, "g", marks_, quorum_);
    }
  }

  bool quorum_ = false;
  std::uint64_t passed_ms_ = 1'000'000;
  std::vector<DiskWatch::Mark> marks_{{"a", 10}, {"b", 10}, {"c", 10}};
  std::vector<std::string> told_;
  LogCallback log_ = [this](LogLevel, std::string_view text) { told_.emplace_back(text); };
  DiskWatch watch_{"a", 1s, log_};
};

TEST_F(DiskWatching, NamesTheMemberWhoseDiskStandsStillAndWhenThatIsOver) {
  go_on_for(5000);
  EXPECT_THAT(told_, IsEmpty()) << "nobody lacks anything";
  marks_ = {{"a", 20}, {"b", 10}, {"c", 20}};
  go_on_for(950);
  EXPECT_THAT(told_, IsEmpty());
  go_on_for(150);
  ASSERT_THAT(told_, ElementsAre("group 'g' waits for the disk of member 'b': it has not got "
                                 "further for 1.000 s"));
  marks_[1].persisted = 15;
  go_on_for(50);
  EXPECT_THAT(told_, ElementsAre(told_[0], "group 'g' no longer waits for the disk of member 'b'"));
}

TEST_F(DiskWatching, SaysThatNobodyWaitsWhereAMajorityOfTheDisksIsEnough) {
  quorum_ = true;
  marks_ = {{"a", 20}, {"b", 10}, {"c", 20}};
  go_on_for(1100);
  ASSERT_THAT(told_, ElementsAre("group 'g': the disk of member 'b' is behind: it has not got "
                                 "further for 1.000 s; a majority of the disks goes on without "
                                 "it, until some MiB wait for it"));
  marks_[1].persisted = 15;
  go_on_for(50);
  EXPECT_THAT(told_, ElementsAre(told_[0], "group 'g': the disk of member 'b' has got further"));
}

TEST_F(DiskWatching, NamesTheDisksThatAMajorityWaitsFor) {
  quorum_ = true;
  marks_ = {{"a", 20}, {"b", 10}, {"c", 10}};
  go_on_for(1100);
  EXPECT_THAT(told_, ElementsAre("group 'g' waits for the disk of member 'b': it has not got "
                                 "further for 1.000 s",
                                 "group 'g' waits for the disk of member 'c': it has not got "
                                 "further for 1.000 s"));
}

TEST_F(DiskWatching, DoesNotNameADiskThatIsBehindAndGoesOn) {
  marks_[0].persisted = 1'000'000;
  for (int i = 0; i < 100; ++i) {
    ++marks_[1].persisted;
    ++marks_[2].persisted;
    go_on_for(100);
  }
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(DiskWatching, DoesNotNameItsOwnNode) {
  marks_ = {{"a", 10}, {"b", 20}, {"c", 20}};
  go_on_for(5000);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(DiskWatching, DoesNotWaitForAMemberThatKeepsNoLog) {
  marks_ = {{"a", 10}, {"b", kAllPersisted}, {"c", 10}};
  go_on_for(5000);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(DiskWatching, IsNotMisledByAViewInWhichMembersSayTheSameAgain) {
  marks_[0].persisted = 20;
  marks_[2].persisted = 20;
  go_on_for(500);
  marks_[1].persisted = 0;
  go_on_for(100);
  marks_[1].persisted = 10;
  go_on_for(500);
  EXPECT_THAT(told_, ElementsAre("group 'g' waits for the disk of member 'b': it has not got "
                                 "further for 1.000 s"));
}

TEST_F(DiskWatching, ForgetsAMemberThatHasLeft) {
  marks_ = {{"a", 20}, {"b", 10}, {"c", 20}};
  go_on_for(1100);
  ASSERT_EQ(told_.size(), 1U);
  marks_.erase(marks_.begin() + 1);
  go_on_for(5000);
  EXPECT_EQ(told_.size(), 1U);
}

TEST_F(DiskWatching, KeepsGroupsApart) {
  marks_ = {{"a", 20}, {"b", 10}, {"c", 20}};
  const std::vector<DiskWatch::Mark> other{{"a", 7}, {"b", 7}, {"c", 7}};
  for (int i = 0; i < 30; ++i) {
    go_on_for(50);
    watch_.take(passed_ms_ * kMs, "h", other);
  }
  EXPECT_THAT(told_, ElementsAre("group 'g' waits for the disk of member 'b': it has not got "
                                 "further for 1.000 s"));
}

}  // namespace
}  // namespace tutti
