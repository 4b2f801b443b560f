// What PostQueue may merge and what it must not: whoever reads a row while the pieces land, one by
// one, sees no post before an earlier one, and no guard before what it guards.
#include "fabric/verbs/post_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace tutti::verbs {
namespace {

constexpr std::uint32_t kNoLimit = 1U << 30;

std::span<const std::byte> bytes_of(const std::uint64_t& word) {
  return std::as_bytes(std::span(&word, 1));
}

/// The pieces in their order: a word's value, or the data's extent.
struct Sent {
  bool data = false;
  std::uint64_t offset = 0;
  std::uint64_t value = 0;  // of data: its size
  friend bool operator==(const Sent&, const Sent&) = default;
};

std::vector<Sent> drain(PostQueue& queue, std::size_t most = kNoLimit) {
  std::vector<Sent> out;
  while (!queue.empty() && out.size() < most) {
    const PostQueue::Piece piece = queue.front(kNoLimit, 8);
    Sent sent{.data = piece.words == nullptr, .offset = piece.offset, .value = piece.bytes};
    if (!sent.data) std::memcpy(&sent.value, piece.words, sizeof sent.value);
    out.push_back(sent);
    queue.pop(piece.bytes);
  }
  queue.forget_popped();
  return out;
}

Sent data(std::uint64_t offset, std::uint64_t bytes) { return {true, offset, bytes}; }
Sent word(std::uint64_t offset, std::uint64_t value) { return {false, offset, value}; }

void publish(PostQueue& queue, std::uint64_t offset, std::uint64_t value) {
  ASSERT_TRUE(queue.publish(offset, bytes_of(value)));
}

TEST(PostQueue, DataThatFollowsOnDataBecomesOneWrite) {
  PostQueue queue;
  queue.write({1000, 10});
  queue.write({5000, 7});
  queue.write({1010, 20});
  queue.write({0, 0});
  EXPECT_EQ(drain(queue), (std::vector{data(1000, 30), data(5000, 7)}));
  EXPECT_TRUE(queue.empty());
}

TEST(PostQueue, WordsComeAfterAllData) {
  PostQueue queue;
  queue.write({1000, 10});
  publish(queue, 64, 1);
  queue.write({2000, 10});
  EXPECT_EQ(drain(queue), (std::vector{data(1000, 10), data(2000, 10), word(64, 1)}));
}

TEST(PostQueue, ANewValueOfTheLastWordReplacesTheOld) {
  PostQueue queue;
  publish(queue, 64, 1);
  publish(queue, 64, 2);
  EXPECT_EQ(drain(queue), (std::vector{word(64, 2)}));
}

TEST(PostQueue, WordsBetweenWhichOthersWerePostedAreNotMerged) {
  PostQueue queue;
  publish(queue, 64, 1);
  publish(queue, 128, 1);
  publish(queue, 64, 2);
  EXPECT_EQ(drain(queue), (std::vector{word(64, 1), word(128, 1), word(64, 2)}));
}

TEST(PostQueue, APostThatCoversTheLastReplacesIt) {
  PostQueue queue;
  publish(queue, 72, 1);
  const std::array<std::uint64_t, 3> words{5, 6, 7};
  ASSERT_TRUE(queue.publish(64, std::as_bytes(std::span(words))));
  publish(queue, 72, 9);  // only a part of the last: comes after it
  EXPECT_EQ(drain(queue), (std::vector{word(64, 5), word(72, 6), word(80, 7), word(72, 9)}));
}

TEST(PostQueue, WhatHasPartlyGoneOutIsNotReplaced) {
  PostQueue queue;
  const std::array<std::uint64_t, 2> words{1, 2};
  ASSERT_TRUE(queue.publish(64, std::as_bytes(std::span(words))));
  EXPECT_EQ(drain(queue, 1), (std::vector{word(64, 1)}));
  const std::array<std::uint64_t, 2> newer{3, 4};
  ASSERT_TRUE(queue.publish(64, std::as_bytes(std::span(newer))));
  EXPECT_EQ(drain(queue), (std::vector{word(72, 2), word(64, 3), word(72, 4)}));
}

TEST(PostQueue, WhatIsTooLongForOneWriteIsCutAtWords) {
  PostQueue queue;
  queue.write({1000, 25});
  const std::array<std::uint64_t, 5> words{};
  ASSERT_TRUE(queue.publish(64, std::as_bytes(std::span(words))));
  std::vector<std::uint32_t> sizes;
  while (!queue.empty()) {
    sizes.push_back(queue.front(10, 16).bytes);
    queue.pop(sizes.back());
  }
  EXPECT_EQ(sizes, (std::vector<std::uint32_t>{10, 10, 5, 16, 16, 8}));
}

TEST(PostQueue, TooManyWordsAreRefusedAndHarmNothing) {
  PostQueue queue;
  for (std::size_t i = 0; i < PostQueue::kCellsMax; ++i) publish(queue, 64 + 64 * (i % 2), i);
  const std::uint64_t value = 7;
  EXPECT_FALSE(queue.publish(192, bytes_of(value)));
  publish(queue, 128, 8);  // replaces the last
  const std::vector<Sent> sent = drain(queue);
  EXPECT_EQ(sent.size(), PostQueue::kCellsMax);
  EXPECT_EQ(sent.back(), word(128, 8));
  publish(queue, 192, 9);
  queue.clear();
  EXPECT_TRUE(queue.empty());
}

TEST(PostQueue, AtRandomNoPostIsSeenBeforeAnEarlierOne) {
  constexpr std::size_t kWords = 4;
  std::mt19937_64 random(1);
  PostQueue queue;
  std::array<std::uint64_t, kWords> row{};
  std::uint64_t post = 0;                    // each word's value is the number of its post
  std::vector<std::size_t> word_of_post{0};  // by post
  for (int turn = 0; turn < 50'000; ++turn) {
    if (random() % 3 != 0) {
      const std::size_t which = random() % kWords;
      word_of_post.push_back(which);
      publish(queue, 64 * (which + 1), ++post);
      continue;
    }
    for (const Sent& sent : drain(queue, random() % 4)) {
      std::uint64_t& landed = row[sent.offset / 64 - 1];
      ASSERT_GT(sent.value, landed);
      // All posts since the last one that landed were of this word, and merged into it.
      const std::uint64_t newest = *std::ranges::max_element(row);
      for (std::uint64_t between = newest + 1; between < sent.value; ++between) {
        ASSERT_EQ(word_of_post[between], sent.offset / 64 - 1);
      }
      landed = sent.value;
    }
  }
}

}  // namespace
}  // namespace tutti::verbs
