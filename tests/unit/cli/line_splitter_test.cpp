#include "cli/line_splitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace tutti::cli {
namespace {

struct Seen {
  std::string text;
  std::uint64_t size;
  bool too_long;
  friend bool operator==(const Seen&, const Seen&) = default;
};

/// Feeds `stream` in blocks of at most `block` bytes.
std::vector<Seen> split(std::string_view stream, std::size_t line_max, std::size_t block) {
  LineSplitter splitter(line_max, block);
  std::vector<Seen> lines;
  const auto take = [&](const Line& line) {
    EXPECT_EQ(line.number, lines.size() + 1);
    lines.push_back({std::string(line.text), line.size, line.too_long});
  };
  while (!stream.empty()) {
    const std::span<char> space = splitter.space();
    const std::size_t count = std::min({stream.size(), space.size(), block});
    EXPECT_GE(space.size(), std::min(block, stream.size()));
    std::ranges::copy(stream.substr(0, count), space.begin());
    splitter.added(count);
    stream.remove_prefix(count);
    while (const auto line = splitter.next()) take(*line);
  }
  if (const auto line = splitter.rest()) take(*line);
  return lines;
}

TEST(LineSplitter, AnEmptyStreamHasNoLines) { EXPECT_TRUE(split("", 10, 4).empty()); }

TEST(LineSplitter, ALastLineWithoutNewlineCounts) {
  EXPECT_EQ(split("a\nb", 10, 4), (std::vector<Seen>{{"a", 1, false}, {"b", 1, false}}));
}

TEST(LineSplitter, ANewlineAtTheEndBeginsNoLine) {
  EXPECT_EQ(split("a\n\n", 10, 4), (std::vector<Seen>{{"a", 1, false}, {"", 0, false}}));
}

TEST(LineSplitter, ALineOfTheMaximumIsWholeAndOneByteMoreIsTooLong) {
  EXPECT_EQ(split("12345\n123456\nx", 5, 3),
            (std::vector<Seen>{{"12345", 5, false}, {"", 6, true}, {"x", 1, false}}));
}

TEST(LineSplitter, CountsALongLineWithoutKeepingIt) {
  LineSplitter splitter(5, 10);
  for (int block = 0; block < 100; ++block) {
    const std::span<char> space = splitter.space();
    ASSERT_GE(space.size(), 10U);
    std::ranges::fill_n(space.begin(), 10, 'x');
    splitter.added(10);
    ASSERT_FALSE(splitter.next());
    EXPECT_EQ(splitter.too_long_so_far(), static_cast<std::uint64_t>(block + 1) * 10);
  }
  const auto rest = splitter.rest();
  ASSERT_TRUE(rest);
  EXPECT_TRUE(rest->too_long);
  EXPECT_EQ(rest->size, 1000U);
}

TEST(LineSplitter, AgreesWithASimpleSplitForRandomStreams) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t line_max = random() % 12;
    std::string stream;
    for (std::size_t i = random() % 60; i > 0; --i) stream += random() % 4 == 0 ? '\n' : 'x';
    std::vector<Seen> expected;
    for (std::size_t begin = 0; begin < stream.size();) {
      const std::size_t end = std::min(stream.find('\n', begin), stream.size());
      const bool too_long = end - begin > line_max;
      expected.push_back(
          {too_long ? "" : stream.substr(begin, end - begin), end - begin, too_long});
      begin = end + 1;
    }
    EXPECT_EQ(split(stream, line_max, 1 + random() % 9), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace tutti::cli
