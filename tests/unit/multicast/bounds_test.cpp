#include "multicast/bounds.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace tutti {
namespace {

TEST(Bounds, AreZeroAtFirst) {
  const Bounds bounds(2);
  EXPECT_EQ(bounds.get(SenderIndex{1}).records, 0U);
  EXPECT_EQ(bounds.get(SenderIndex{1}).known, 0U);
  EXPECT_EQ(bounds.get(SenderIndex{1}).stable, 0U);
}

TEST(Bounds, KeepSendersApart) {
  Bounds bounds(2);
  bounds.set(SenderIndex{1}, {.records = 1, .known = 3, .stable = 2});
  EXPECT_EQ(bounds.get(SenderIndex{0}).known, 0U);
  EXPECT_EQ(bounds.get(SenderIndex{1}).records, 1U);
  EXPECT_EQ(bounds.get(SenderIndex{1}).known, 3U);
  EXPECT_EQ(bounds.get(SenderIndex{1}).stable, 2U);
}

// N1. A record of every round, so that each count bounds the next; and the records' bytes, plain
// memory, are there as soon as the count tells of them (for ThreadSanitizer).
TEST(Bounds, N1ShowRecordsBeforeTheRoundsTheyAreIn) {
  constexpr std::uint64_t kRecords = 20'000;
  Bounds bounds(1);
  std::vector<std::uint64_t> ring(kRecords);
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      ring[i] = i + 1;
      bounds.set(SenderIndex{0}, {.records = i + 1, .known = i + 1, .stable = i});
    }
  });
  SenderBounds seen;
  while (seen.records < kRecords) {
    const SenderBounds now = bounds.get(SenderIndex{0});
    ASSERT_LE(now.stable, now.known);
    ASSERT_LE(now.known, now.records);
    ASSERT_GE(now.records, seen.records);
    for (std::uint64_t i = seen.records; i < now.records; ++i) ASSERT_EQ(ring[i], i + 1);
    seen = now;
  }
  writer.join();
}

// N3. A record that is known and not stable lets nothing be delivered; a null does.
TEST(Bounds, N3MoveWhenMoreMayBeDelivered) {
  Bounds bounds(2);
  const auto moves = [&](const SenderBounds& to) {
    const std::uint64_t before = bounds.moves();
    bounds.set(SenderIndex{1}, to);
    return bounds.moves() != before;
  };
  EXPECT_FALSE(moves({.records = 2, .known = 2, .stable = 0}));
  EXPECT_TRUE(moves({.records = 2, .known = 2, .stable = 1}));
  EXPECT_FALSE(moves({.records = 2, .known = 2, .stable = 1}));
  EXPECT_FALSE(moves({.records = 5, .known = 5, .stable = 1}));
  EXPECT_TRUE(moves({.records = 5, .known = 6, .stable = 1}));
  EXPECT_TRUE(moves({.records = 6, .known = 8, .stable = 1}));
  EXPECT_TRUE(moves({.records = 9, .known = 11, .stable = 8}));
  EXPECT_TRUE(moves({.records = 9, .known = kNoRound, .stable = 8}));  // finished
}

}  // namespace
}  // namespace tutti
