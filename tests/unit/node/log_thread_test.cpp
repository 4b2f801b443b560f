#include "node/log_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <vector>

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Written by the log's thread; read once flush() or end() has returned.
using Lines = std::vector<std::string>;

LogCallback into(Lines& lines) {
  return [&lines](LogLevel, std::string_view text) { lines.emplace_back(text); };
}

TEST(LogThread, WritesInOrderWhatIsSaid) {
  Lines lines;
  LogThread log(into(lines));
  ASSERT_TRUE(log.start());
  log.flush();
  log.say(LogLevel::info, "one");
  log.say(LogLevel::warning, "two");
  log.flush();
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  log.say(LogLevel::info, "three");
  log.end();
  EXPECT_THAT(lines, ElementsAre("one", "two", "three")) << "the end writes what waits";
  log.say(LogLevel::info, "four");
  log.flush();
  EXPECT_EQ(lines.size(), 3);
}

TEST(LogThread, NeverWaitsForTheCallbackAndTellsWhatItMissed) {
  Lines lines;
  std::latch entered{1};
  std::latch opened{1};
  LogThread log([&](LogLevel, std::string_view text) {
    if (text == "first") entered.count_down();
    opened.wait();
    lines.emplace_back(text);
  });
  ASSERT_TRUE(log.start());
  log.say(LogLevel::info, "first");
  entered.wait();
  const std::string line(LogQueue::kBytesMax / 4, 'x');
  for (int i = 0; i < 100; ++i) log.say(LogLevel::info, line);
  opened.count_down();
  log.flush();
  ASSERT_EQ(lines.size(), 6);
  EXPECT_THAT(lines[1], HasSubstr("96 lines are missing"));
}

TEST(LogThread, IgnoresWhatTheCallbackSays) {
  int called = 0;
  LogThread* self = nullptr;
  LogThread log([&](LogLevel level, std::string_view text) {
    ++called;
    self->say(level, text);
    self->flush();
  });
  self = &log;
  ASSERT_TRUE(log.start());
  log.say(LogLevel::info, "one");
  log.end();
  EXPECT_EQ(called, 1);
}

TEST(LogThread, FreesTheCallbackAtItsEndStartedOrNot) {
  for (const bool starts : {false, true}) {
    auto held = std::make_shared<int>(0);
    LogThread log([held](LogLevel, std::string_view) { ++*held; });
    if (starts) {
      ASSERT_TRUE(log.start());
    }
    log.say(LogLevel::info, "one");
    log.end();
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, starts ? 1 : 0);
  }
}

}  // namespace
}  // namespace tutti
