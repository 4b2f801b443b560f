#include "base/log_queue.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

std::string line(std::uint64_t number) {
  std::string text = std::to_string(number) + "\n";
  text.insert(0, 128 - text.size(), '.');
  return text;
}

constexpr std::uint64_t kRoom = LogQueue::kBytesMax / 128;

TEST(LogQueue, GivesLinesInOrder) {
  LogQueue queue;
  EXPECT_TRUE(queue.empty());
  for (std::uint64_t i = 0; i < kRoom; ++i) queue.push(LogLevel::info, line(i));
  for (std::uint64_t i = 0; i < kRoom; ++i) {
    const LogQueue::Line next = queue.take();
    EXPECT_EQ(next.text, line(i));
    EXPECT_EQ(next.missing, 0U);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(LogQueue, DropsTheOldestLinesAndTellsTheirNumberOnce) {
  LogQueue queue;
  for (std::uint64_t i = 0; i < 3 * kRoom; ++i) queue.push(LogLevel::info, line(i));
  for (std::uint64_t i = 2 * kRoom; i < 3 * kRoom; ++i) {
    const LogQueue::Line next = queue.take();
    EXPECT_EQ(next.text, line(i));
    EXPECT_EQ(next.missing, i == 2 * kRoom ? 2 * kRoom : 0);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(LogQueue, KeepsALineThatIsLongerThanItsRoom) {
  LogQueue queue;
  queue.push(LogLevel::warning, "short");
  const std::string large(2 * LogQueue::kBytesMax, 'x');
  queue.push(LogLevel::info, large);
  const LogQueue::Line next = queue.take();
  EXPECT_TRUE(next.text == large);
  EXPECT_EQ(next.missing, 1U);
  EXPECT_TRUE(queue.empty());
  queue.push(LogLevel::warning, "short");
  EXPECT_EQ(queue.take().text, "short");
}

}  // namespace
}  // namespace tutti
