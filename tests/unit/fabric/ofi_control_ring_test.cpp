// Control words on their way through the ring: merged in a PostQueue, cut into parts, applied frame
// by frame. The ring is written as a provider would, late and torn.
#include "fabric/ofi/control_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "fabric/tcp/frame.hpp"

namespace tutti::ofi {
namespace {

constexpr std::size_t kRowBytes = 1024 * 1024;

struct Words {
  explicit Words(std::size_t bytes) : words(std::make_unique<std::uint64_t[]>(bytes / 8)) {}
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(words.get()); }
  std::unique_ptr<std::uint64_t[]> words;
};

/// Both ends, and what is written between them only when it is told to land.
struct Link {
  void publish(std::uint64_t offset, std::vector<std::uint64_t> words) {
    queue.publish(offset, std::as_bytes(std::span(words)));
  }
  /// Posts the next part, if the queue has one and the ring room; lands its first `bytes`.
  bool post(std::size_t bytes = kPartBytesMax) {
    const std::span<const std::byte> rest = queue.next_frame(false);
    if (rest.empty()) return false;
    const auto part = writer.build(rest, consumed);
    if (!part) return false;
    writer.posted(*part);
    queue.frame_sent(part->payload);
    land(*part, bytes);
    last = *part;
    return true;
  }
  void land(const RingWriter::Part& part, std::size_t bytes) {
    std::memcpy(ring.data() + part.offset, mirror.data() + part.offset,
                std::min<std::size_t>(bytes, part.bytes));
  }
  [[nodiscard]] std::uint64_t seen(std::uint64_t offset) const { return row.words[offset / 8]; }

  Words mirror{kRingBytes};
  Words ring{kRingBytes};
  Words row{kRowBytes};
  PostQueue queue{{.words = tutti::Words::framed, .ordering = Ordering::writes}};
  RingWriter writer{{mirror.data(), kRingBytes}};
  RingReader reader{{ring.data(), kRingBytes}, {row.data(), kRowBytes}};
  std::uint64_t consumed = 0;
  RingWriter::Part last;
};

TEST(OfiControlRing, AnEmptyRingHasNothing) {
  Link link;
  EXPECT_EQ(link.reader.poll(), 0U);
  EXPECT_EQ(link.reader.error(), "");
}

TEST(OfiControlRing, WordsArrive) {
  Link link;
  link.publish(64, {1, 2, 3});
  ASSERT_TRUE(link.post());
  EXPECT_EQ(link.reader.poll(), 1U);
  EXPECT_EQ(link.seen(64), 1U);
  EXPECT_EQ(link.seen(80), 3U);
  EXPECT_EQ(link.reader.poll(), 0U) << "once";
}

TEST(OfiControlRing, ATornPartIsNotSeenUntilItIsWhole) {
  for (std::size_t bytes = 0; bytes < kPartHeaderBytes + 16 + 24; bytes += 8) {
    Link link;
    link.publish(64, {1, 2, 3});
    ASSERT_TRUE(link.post(bytes));
    EXPECT_EQ(link.reader.poll(), 0U) << bytes;
    EXPECT_EQ(link.seen(64), 0U);
    link.land(link.last, kPartBytesMax);
    EXPECT_EQ(link.reader.poll(), 1U);
    EXPECT_EQ(link.seen(64), 1U);
  }
}

TEST(OfiControlRing, AFrameOfManyPartsIsAppliedAtOnce) {
  Link link;
  link.publish(64, {1});
  link.publish(8192, std::vector<std::uint64_t>(3000, 7));
  std::size_t parts = 0;
  while (link.post()) {
    if (!link.queue.empty()) {
      EXPECT_EQ(link.reader.poll(), 0U);
      EXPECT_EQ(link.seen(64), 0U);
    }
    ++parts;
  }
  EXPECT_GT(parts, 5U);
  EXPECT_EQ(link.reader.poll(), 1U);
  EXPECT_EQ(link.seen(64), 1U);
  EXPECT_EQ(link.seen(8192 + 2999 * 8), 7U);
}

TEST(OfiControlRing, WhatIsNotConsumedIsNotWrittenOver) {
  Link link;
  std::uint64_t published = 0;
  const auto post_all = [&] {
    while (true) {
      if (link.queue.empty()) link.publish(64, {++published, published});
      if (!link.post()) return;
    }
  };
  post_all();
  EXPECT_LE(link.writer.position(), kRingBytes);
  EXPECT_GT(link.reader.poll(), 0U);
  EXPECT_EQ(link.seen(64), published - 1) << "all but the one that found no room";
  EXPECT_FALSE(link.post()) << "the writer does not know yet";
  link.consumed = link.reader.consumed();
  EXPECT_TRUE(link.post());
}

// Random posts, parts and looks against what was published: no value runs backwards, and words of
// one publish() are seen together.
TEST(OfiControlRing, ManyFramesOfAllSizesKeepTheirOrder) {
  std::mt19937_64 random(5);
  Link link;
  std::vector<std::uint64_t> newest(64, 0);
  std::uint64_t value = 0;
  std::uint64_t seen_first = 0;
  for (int step = 0; step < 50'000; ++step) {
    switch (random() % 4) {
      case 0: {
        const std::uint64_t cell = random() % newest.size();
        newest[cell] = ++value;
        const std::size_t count = random() % 50 == 0 ? 900 : 2 + random() % 8;
        link.publish(64 + cell * 8192, std::vector<std::uint64_t>(count, value));
        break;
      }
      case 1:
        static_cast<void>(link.post());
        break;
      case 2:
        static_cast<void>(link.reader.poll());
        ASSERT_EQ(link.reader.error(), "");
        ASSERT_EQ(link.seen(64), link.seen(72));
        ASSERT_GE(link.seen(64), seen_first);
        seen_first = link.seen(64);
        break;
      default:
        link.consumed = link.reader.consumed();
    }
  }
  while (!link.queue.empty()) {
    static_cast<void>(link.post());
    static_cast<void>(link.reader.poll());
    link.consumed = link.reader.consumed();
  }
  EXPECT_GT(link.writer.position(), 10 * kRingBytes);
  for (std::uint64_t cell = 0; cell < newest.size(); ++cell) {
    EXPECT_EQ(link.seen(64 + cell * 8192), newest[cell]);
  }
}

TEST(OfiControlRing, WordsOutsideOfTheRowAreRefused) {
  const ControlRecord bad[] = {{.offset = 0, .bytes = 8},          // the header of the row is ours
                               {.offset = 68, .bytes = 8},         // not aligned
                               {.offset = 64, .bytes = 4},         // not words
                               {.offset = kRowBytes, .bytes = 8},  // behind it
                               {.offset = kRowBytes - 8, .bytes = 16},
                               {.offset = 64, .bytes = 1024},  // more than came
                               {.offset = ~std::uint64_t{7}, .bytes = 8}};
  for (const ControlRecord& record : bad) {
    Link link;
    std::vector<std::byte> frame(sizeof record + 16);
    std::memcpy(frame.data(), &record, sizeof record);
    const auto part = link.writer.build(frame, 0);
    ASSERT_TRUE(part);
    link.land(*part, kPartBytesMax);
    EXPECT_EQ(link.reader.poll(), 0U);
    EXPECT_NE(link.reader.error().find("outside"), std::string::npos) << record.offset;
  }
}

TEST(OfiControlRing, RubbishInTheRingIsIgnored) {
  std::mt19937_64 random(7);
  Link link;
  for (std::size_t i = 0; i < kRingBytes / 8; ++i) link.ring.words[i] = random();
  link.ring.words[0] = 0;  // the position that is expected
  EXPECT_EQ(link.reader.poll(), 0U);
  EXPECT_EQ(link.reader.error(), "");
}

}  // namespace
}  // namespace tutti::ofi
