/// Random right histories, spoilt in one place: the checker must reject each.
#include "unit/history/corruptions.hpp"

#include <gtest/gtest.h>

#include "history/text.hpp"
#include "support/sanitized.hpp"

namespace tutti::history::testing {
namespace {

TEST(Corruptions, AreAllRejected) {
  constexpr std::uint64_t kRuns = tutti::testing::kSanitized ? 12 : 60;
  ASSERT_GE(corruptions().size(), 20U);
  for (const Corruption& corruption : corruptions()) {
    SCOPED_TRACE(corruption.what);
    std::uint64_t applied = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      SCOPED_TRACE(seed);
      Story story = random_story(seed);
      Prng random(seed);
      if (!corruption.apply(story, random)) continue;
      ++applied;
      EXPECT_FALSE(story.check().good());
    }
    EXPECT_GE(applied, kRuns / 6);
  }
}

/// What is recorded may be any bytes: there is a report, whatever it says.
TEST(Corruptions, OfAnyKindAreSurvived) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Story story = random_story(seed % 7);
    Prng random(seed);
    for (std::uint64_t changes = 1 + random.below(40); changes > 0; --changes) {
      std::vector<Event>& events = story.lives[random.below(story.lives.size())].events;
      if (events.empty()) continue;
      auto* const bytes = reinterpret_cast<unsigned char*>(&events[random.below(events.size())]);
      const std::uint64_t at = random.below(sizeof(Event));
      bytes[at] = static_cast<unsigned char>(random.next());
    }
    EXPECT_FALSE(to_string(story.check()).empty());
  }
}

}  // namespace
}  // namespace tutti::history::testing
