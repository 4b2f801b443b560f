// PostQueue where words are placed one post at a time (Words::placed): a reader that looks while
// the pieces land sees no post before an earlier one, and no guard before what it guards.
#include "fabric/post_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace tutti {
namespace {

constexpr PostPolicy kPlaced{.words = Words::placed, .ordering = Ordering::writes};
constexpr std::uint32_t kNoLimit = 1U << 30;

/// A part of a post, as one write carries it.
struct Piece {
  const std::byte* words = nullptr;  // null: data
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

/// Takes the next piece, of at most so many bytes.
Piece take(PostQueue& queue, std::uint32_t data_bytes_max, std::size_t words_bytes_max) {
  if (const std::optional<Extent> data = queue.next_data()) {
    const std::uint32_t bytes = std::min(data->bytes, data_bytes_max);
    queue.data_sent(bytes);
    return {nullptr, data->offset, bytes};
  }
  const PostQueue::Placed post = queue.next_placed();
  const std::size_t bytes = std::min(post.words.size(), words_bytes_max);
  queue.placed_sent(bytes);
  return {post.words.data(), post.offset, static_cast<std::uint32_t>(bytes)};
}

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
    const Piece piece = take(queue, kNoLimit, 8);
    Sent sent{.data = piece.words == nullptr, .offset = piece.offset, .value = piece.bytes};
    if (!sent.data) std::memcpy(&sent.value, piece.words, sizeof sent.value);
    out.push_back(sent);
  }
  return out;
}

Sent data(std::uint64_t offset, std::uint64_t bytes) { return {true, offset, bytes}; }
Sent word(std::uint64_t offset, std::uint64_t value) { return {false, offset, value}; }

void publish(PostQueue& queue, std::uint64_t offset, std::uint64_t value) {
  queue.publish(offset, bytes_of(value));
  ASSERT_FALSE(queue.overflowed());
}

TEST(PlacedWords, DataThatFollowsOnDataBecomesOneWrite) {
  PostQueue queue{kPlaced};
  queue.write({1000, 10});
  queue.write({5000, 7});
  queue.write({1010, 20});
  queue.write({4096, 0});
  EXPECT_EQ(drain(queue), (std::vector{data(1000, 30), data(5000, 7)}));
  EXPECT_TRUE(queue.empty());
}

TEST(PlacedWords, WordsComeAfterAllData) {
  PostQueue queue{kPlaced};
  queue.write({1000, 10});
  publish(queue, 64, 1);
  queue.write({2000, 10});
  EXPECT_EQ(drain(queue), (std::vector{data(1000, 10), data(2000, 10), word(64, 1)}));
}

TEST(PlacedWords, ANewValueOfTheLastWordReplacesTheOld) {
  PostQueue queue{kPlaced};
  publish(queue, 64, 1);
  publish(queue, 64, 2);
  EXPECT_EQ(drain(queue), (std::vector{word(64, 2)}));
}

TEST(PlacedWords, WordsBetweenWhichOthersWerePostedAreNotMerged) {
  PostQueue queue{kPlaced};
  publish(queue, 64, 1);
  publish(queue, 128, 1);
  publish(queue, 64, 2);
  EXPECT_EQ(drain(queue), (std::vector{word(64, 1), word(128, 1), word(64, 2)}));
}

TEST(PlacedWords, AGuardThatGoesAndComesBackIsTwoWrites) {
  PostQueue queue{kPlaced};
  const std::array<std::uint64_t, 2> cleared{0, 7};  // the guard goes; then a new word
  const std::array<std::uint64_t, 2> opened{3, 7};
  queue.publish(64, std::as_bytes(std::span(cleared)));
  queue.publish(64, std::as_bytes(std::span(opened)));
  EXPECT_EQ(drain(queue), (std::vector{word(64, 0), word(72, 7), word(64, 3), word(72, 7)}));
}

TEST(PlacedWords, APostThatCoversTheLastComesAfterIt) {
  PostQueue queue{kPlaced};
  publish(queue, 72, 1);
  const std::array<std::uint64_t, 3> words{5, 6, 7};
  queue.publish(64, std::as_bytes(std::span(words)));
  publish(queue, 72, 9);
  EXPECT_EQ(drain(queue),
            (std::vector{word(72, 1), word(64, 5), word(72, 6), word(80, 7), word(72, 9)}));
}

TEST(PlacedWords, WhatHasPartlyGoneOutIsNotReplaced) {
  PostQueue queue{kPlaced};
  const std::array<std::uint64_t, 2> words{1, 2};
  queue.publish(64, std::as_bytes(std::span(words)));
  EXPECT_EQ(drain(queue, 1), (std::vector{word(64, 1)}));
  const std::array<std::uint64_t, 2> newer{3, 4};
  queue.publish(64, std::as_bytes(std::span(newer)));
  EXPECT_EQ(drain(queue), (std::vector{word(72, 2), word(64, 3), word(72, 4)}));
}

TEST(PlacedWords, WhatIsTooLongForOneWriteIsCutAtWords) {
  PostQueue queue{kPlaced};
  queue.write({1000, 25});
  const std::array<std::uint64_t, 5> words{};
  queue.publish(64, std::as_bytes(std::span(words)));
  std::vector<std::uint32_t> sizes;
  while (!queue.empty()) {
    sizes.push_back(take(queue, 10, 16).bytes);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint32_t>{10, 10, 5, 16, 16, 8}));
}

TEST(PlacedWords, WordsDoNotWaitForMuchDataPostedAfterThem) {
  PostQueue queue{kPlaced};
  queue.write({4096, PostQueue::kChunkBytes});
  publish(queue, 64, 1);
  queue.write({4096 + PostQueue::kChunkBytes, 1000});
  publish(queue, 64, 2);
  EXPECT_EQ(drain(queue), (std::vector{data(4096, PostQueue::kChunkBytes), word(64, 1),
                                       data(4096 + PostQueue::kChunkBytes, 1000), word(64, 2)}));
}

TEST(PlacedWords, TooManyWordsAreDroppedAndTold) {
  PostQueue queue{kPlaced};
  for (std::size_t i = 0; i < PostQueue::kRecordsMax; ++i) publish(queue, 64 + 64 * (i % 2), i);
  publish(queue, 128, 8);  // replaces the last
  const std::uint64_t value = 7;
  queue.publish(192, bytes_of(value));
  EXPECT_TRUE(queue.overflowed());
  const std::vector<Sent> sent = drain(queue);
  EXPECT_EQ(sent.size(), PostQueue::kRecordsMax);
  EXPECT_EQ(sent.back(), word(128, 8));
  queue.clear();
  publish(queue, 192, 9);
  EXPECT_EQ(drain(queue), (std::vector{word(192, 9)}));
}

// Each word's value is the number of its post, and a write's words land in any order.
TEST(PlacedWords, AtRandomNoPostIsSeenBeforeAnEarlierOne) {
  constexpr std::size_t kWords = 4;
  std::mt19937_64 random(1);
  PostQueue queue{kPlaced};
  std::array<std::uint64_t, kWords> row{};
  std::array<std::vector<std::uint64_t>, kWords> posts_of;  // by word
  std::uint64_t post = 0;
  const auto expect_all_before = [&](std::uint64_t seen) {
    for (std::size_t i = 0; i < kWords; ++i) {
      const auto newer = std::ranges::lower_bound(posts_of[i], seen);
      if (newer == posts_of[i].begin()) continue;
      ASSERT_GE(row[i], *(newer - 1)) << "post " << seen;
    }
  };
  for (int turn = 0; turn < 50'000; ++turn) {
    if (random() % 3 != 0) {
      const std::size_t first = random() % kWords;
      const std::size_t count = random() % 2 == 0 ? 1 : 1 + random() % (kWords - first);
      const std::vector<std::uint64_t> words(count, ++post);
      for (std::size_t i = first; i < first + count; ++i) posts_of[i].push_back(post);
      queue.publish(64 + 8 * first, std::as_bytes(std::span(words)));
      continue;
    }
    for (std::uint64_t left = random() % 4; left > 0 && !queue.empty(); --left) {
      const Piece piece = take(queue, kNoLimit, kNoLimit);
      std::vector<std::size_t> order(piece.bytes / 8);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::shuffle(order, random);
      for (const std::size_t i : order) {
        std::uint64_t& landed = row[(piece.offset - 64) / 8 + i];
        std::memcpy(&landed, piece.words + 8 * i, sizeof landed);
        ASSERT_NO_FATAL_FAILURE(expect_all_before(landed));
      }
    }
  }
}

}  // namespace
}  // namespace tutti
