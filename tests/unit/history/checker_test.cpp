/// The checker accepts what is right, says what it skips, and takes any input.
#include "history/checker/check.hpp"

#include <gtest/gtest.h>

#include "history/reader.hpp"
#include "history/text.hpp"
#include "unit/history/files.hpp"
#include "unit/history/story.hpp"

namespace tutti::history::testing {
namespace {

TEST(Checker, AcceptsAGoodStory) {
  const Report report = good_story().check();
  EXPECT_TRUE(report.good()) << to_string(report);
  EXPECT_EQ(report.members, 6U);
  EXPECT_TRUE(report.skipped.size() <= 1) << to_string(report);
}

TEST(Checker, AcceptsRandomGoodStories) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Report report = random_story(seed).check();
    ASSERT_TRUE(report.good()) << to_string(report);
  }
}

// M10, V6: joining and leaving change the view whenever they are asked for.
TEST(Checker, AcceptsJoinsAndLeavesAfterHealingAndInPauses) {
  Story story = good_story();
  story.heal();
  story.fault(EventKind::fault_begin, FaultKind::pause, 3);
  story.fault(EventKind::fault_end, FaultKind::pause, 3);
  story.heal();
  const LifeId joining = story.begin("F", 9);
  story.change_view({.joins = {joining}});
  story.wait(60);
  story.change_view({.leaves = {kD}});
  story.settle();
  story.wait(100);
  story.note(kA, make_event(EventKind::wedge, story.at(9)));
  const Report report = story.check();
  EXPECT_TRUE(report.good()) << to_string(report);
}

// Of an incomplete run, only what is certain is said.
TEST(Checker, AcceptsAnyPartOfAGoodStoryAsIncomplete) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Story story = random_story(seed);
    story.options.complete = false;
    Prng random(seed);
    for (std::uint64_t drops = 1 + random.below(3); drops > 0 && story.lives.size() > 2; --drops) {
      const std::uint64_t life = 1 + random.below(story.lives.size() - 1);
      story.lives.erase(story.lives.begin() + static_cast<std::ptrdiff_t>(life));
    }
    const Report report = story.check();
    ASSERT_TRUE(report.good()) << to_string(report);
    EXPECT_FALSE(report.skipped.empty());
  }
}

// A process that is killed leaves a history that ends anywhere.
TEST(Checker, AcceptsWhatEndsAnywhereAfterACrash) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const Story story = random_story(seed);
    Prng random(seed);
    std::vector<History> histories;
    histories.reserve(story.lives.size());
    for (const Story::Life& life : story.lives) {
      histories.push_back({.identity = life.identity,
                           .events = life.events,
                           .source = life.identity.name,
                           .crashed = life.crashed});
    }
    const std::uint64_t life = 1 + random.below(histories.size() - 1);
    History& cut = histories[life];
    cut.events = cut.events.first(random.below(cut.events.size()));
    cut.crashed = true;
    cut.lost = 1;
    const auto report = check(histories, {.complete = false});
    ASSERT_TRUE(report && report->good()) << to_string(*report);
  }
}

TEST(Checker, ReadsFilesAsItReadsMemory) {
  const TemporaryFolder folder;
  const Story story = good_story();
  std::vector<HistoryFile> files;
  std::vector<History> histories;
  for (const Story::Life& life : story.lives) {
    const auto path = folder / life.identity.name;
    auto recorder = Recorder::to_file(path, life.identity);
    ASSERT_TRUE(recorder);
    for (const Event& event : life.events) (*recorder)->append(event);
    ASSERT_TRUE((*recorder)->close());
    auto file = HistoryFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    histories.push_back(file->history());
    histories.back().crashed = life.crashed;
    files.push_back(std::move(*file));
  }
  const auto report = check(histories, story.options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->good()) << to_string(*report);
  EXPECT_EQ(to_string(*report).substr(0, 3), std::to_string(report->events).substr(0, 3));
}

TEST(Checker, RefusesTwoHistoriesOfOneIncarnation) {
  const Story story = good_story();
  const History one{.identity = story.lives[kA].identity, .events = {}, .source = "one"};
  History other = one;
  other.source = "other";
  const std::vector<History> histories = {one, other};
  const auto report = check(histories);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("other and one are both of 0:"), std::string::npos);
}

TEST(Checker, CountsAllAndShowsSome) {
  Story story = good_story();
  for (Story::Life& life : story.lives) {
    for (Event& event : life.events) {
      if (event.kind == EventKind::deliver) ++event.crc;
    }
  }
  story.options.shown_max = 3;
  const Report report = story.check();
  EXPECT_GT(report.violation_count, 50U);
  EXPECT_EQ(report.violations.size(), 3U);
  EXPECT_NE(to_string(report).find("more violations"), std::string::npos);
  const std::string text = to_string(report.violations[0]);
  for (const char* part : {"D1: A delivers other bytes", "A (0:", "event ", "deliver of group"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Checker, AcceptsNothing) {
  const auto report = check({});
  ASSERT_TRUE(report);
  EXPECT_EQ(to_string(*report).substr(0, 34), "0 events of 0 members, 0 violation");
}

}  // namespace
}  // namespace tutti::history::testing
