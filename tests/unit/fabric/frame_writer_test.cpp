// What PostQueue may merge where words are framed, and what it must not: a guard never arrives
// before what it guards. A FrameWriter drains the queue into a FrameReader in random pieces, as a
// socket does it.
#include "fabric/tcp/frame_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "fabric/tcp/frame_reader.hpp"
#include "support/sanitized.hpp"

namespace tutti::tcp {
namespace {

constexpr std::uint64_t kSentEpoch = 3;
constexpr std::size_t kSentRowBytes = 4 * 1024 * 1024;

/// Zeroed memory for a row.
struct Row {
  std::unique_ptr<std::uint64_t[]> words = std::make_unique<std::uint64_t[]>(kSentRowBytes / 8);
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(words.get()); }
  [[nodiscard]] std::uint64_t& word(std::uint64_t offset) { return words[offset / 8]; }
};

/// Our row, the queue to one peer, and the peer's replica.
struct Link {
  /// Sends up to `bytes_max` bytes; returns how many there were.
  std::size_t drain(std::size_t bytes_max) {
    std::vector<std::byte> wire;
    for (const iovec& piece : writer.gather(queue)) {
      const auto* begin = static_cast<const std::byte*>(piece.iov_base);
      wire.insert(wire.end(), begin, begin + std::min(piece.iov_len, bytes_max - wire.size()));
    }
    writer.advance(queue, wire.size());
    std::span<const std::byte> rest(wire);
    while (!rest.empty()) {
      std::size_t fed = 0;
      for (const iovec& target : reader.targets()) {
        const std::size_t here = std::min(target.iov_len, rest.size() - fed);
        std::memcpy(target.iov_base, rest.data() + fed, here);
        fed += here;
      }
      reader.arrived(fed);
      rest = rest.subspan(fed);
      if (!reader.error().empty()) {
        ADD_FAILURE() << reader.error();
        return 0;
      }
    }
    return wire.size();
  }

  void drain_all() {
    while (!queue.empty()) ASSERT_GT(drain(kSentRowBytes), 0U);
    EXPECT_FALSE(reader.in_frame());
  }

  void publish(std::uint64_t offset, std::vector<std::uint64_t> words) {
    queue.publish(offset, std::as_bytes(std::span(words)));
  }

  Row ours;
  Row replica;
  PostQueue queue{{.words = Words::framed, .ordering = Ordering::writes}};
  FrameWriter writer{ours.data(), kSentEpoch};
  FrameReader reader{{replica.data(), kSentRowBytes}, kSentEpoch};
};

/// Several rings in one row, as groups have them: records are appended, then a counter published;
/// space is used again once the peer's replica has the counter. Every word of a ring says how often
/// it was written, so that the replica shows whether the data below a counter are there.
struct Ring {
  static constexpr std::uint64_t kBytes = 512 * 1024;

  void append(Link& link, std::uint64_t bytes) {
    while (bytes > 0) {
      const std::uint64_t at = head % kBytes;
      const std::uint64_t here = std::min(bytes, kBytes - at);
      for (std::uint64_t word = 0; word < here; word += 8) {
        link.ours.word(data + at + word) = (head + word) / kBytes + 1;
      }
      link.queue.write({data + at, static_cast<std::uint32_t>(here)});
      head += here;
      bytes -= here;
    }
  }

  void publish(Link& link) const { link.publish(guard, {head}); }

  /// Looks only at what is new, as a receiver does.
  void check(Link& link) {
    const std::uint64_t landed = link.replica.word(guard);
    ASSERT_GE(landed, checked);
    ASSERT_LE(landed, head);
    for (; checked < landed; checked += 8) {
      ASSERT_GE(link.replica.word(data + checked % kBytes), checked / kBytes + 1) << checked;
    }
  }

  [[nodiscard]] std::uint64_t space() const { return kBytes - (head - checked); }

  std::uint64_t data;
  std::uint64_t guard;
  std::uint64_t head = 0;
  std::uint64_t checked = 0;
};

// Six have each combination of record_max and drain_max.
constexpr std::uint64_t kWriterSeeds = tutti::testing::kSanitized ? 6 : 12;
constexpr int kTurns = tutti::testing::kSanitized ? 600 : 2500;

TEST(FrameWriter, NeverLetsAGuardOvertakeItsData) {
  for (std::uint64_t seed = 0; seed < kWriterSeeds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Link link;
    std::vector<Ring> rings;
    rings.reserve(4);
    for (std::uint64_t ring = 0; ring < 4; ++ring) {
      rings.push_back({.data = 4096 + ring * Ring::kBytes, .guard = 64 + ring * 64});
    }
    const std::uint64_t record_max = seed % 2 == 0 ? 40 : 8000;  // in words
    const std::uint64_t drain_max = seed % 3 == 0 ? 1000 : 300'000;
    for (int turn = 0; turn < kTurns; ++turn) {
      Ring& ring = rings[random() % rings.size()];
      const std::uint64_t bytes = 8 * (1 + random() % record_max);
      if (bytes <= ring.space()) ring.append(link, bytes);
      if (random() % 2 == 0) ring.publish(link);
      if (random() % 4 == 0) link.drain(1 + random() % drain_max);
      ASSERT_EQ(link.reader.error(), "");
      for (Ring& each : rings) ASSERT_NO_FATAL_FAILURE(each.check(link));
    }
    for (Ring& ring : rings) ring.publish(link);
    link.drain_all();
    for (Ring& ring : rings) {
      ASSERT_NO_FATAL_FAILURE(ring.check(link));
      EXPECT_EQ(ring.checked, ring.head);
    }
  }
}

TEST(FrameWriter, ShowsPublishedWordsInTheOrderPosted) {
  // Whoever sees a word sees all that were published before it, though older ones are replaced.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Link link;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> posted;  // cell, number of the post
    std::vector<std::uint64_t> newest(8), expected(8);
    std::uint64_t number = 0;
    for (int turn = 0; turn < 3000; ++turn) {
      const std::uint64_t cell = random() % 8;
      link.publish(64 + cell * 8, {++number});
      posted.emplace_back(cell, number);
      if (random() % 5 == 0) link.queue.write({4096, 8000});
      if (random() % 3 == 0) link.drain(random() % 20'000);
      for (std::uint64_t index = 0; index < 8; ++index) {
        newest[index] = link.replica.word(64 + index * 8);
      }
      const std::uint64_t seen = *std::max_element(newest.begin(), newest.end());
      for (; !posted.empty() && posted.front().second <= seen; posted.pop_front()) {
        expected[posted.front().first] = posted.front().second;
      }
      ASSERT_EQ(newest, expected);
    }
  }
}

TEST(FrameWriter, StoresTheNewestOfOverlappingWordsLast) {
  Link link;
  link.publish(64, {1, 1, 1});
  link.publish(72, {2});
  link.publish(64, {3, 3});
  link.publish(80, {4});
  link.drain_all();
  EXPECT_EQ(link.replica.word(64), 3U);
  EXPECT_EQ(link.replica.word(72), 3U);
  EXPECT_EQ(link.replica.word(80), 4U);
}

TEST(FrameWriter, MergesAdjacentDataOfSeveralGroups) {
  Link link;
  for (std::uint64_t post = 0; post < 100; ++post) {
    link.queue.write({4096 + post * 8, 8});
    link.queue.write({65536 + post * 8, 8});
    link.publish(64, {post});
  }
  link.drain_all();
  EXPECT_EQ(link.writer.frames_sent(), 3U);
  EXPECT_EQ(link.replica.word(64), 99U);
}

TEST(FrameWriter, StaysBoundedWhenThePeerReadsNothing) {
  Link link;
  link.queue.write({4096, 100'000});
  link.publish(64, {0});
  link.drain(1000);  // the first chunk is on its way and changes no more
  // A window's worth of data, in small pieces, and then only control words, for ever.
  for (std::uint64_t post = 1; post <= 100'000; ++post) {
    if (post <= 50'000) link.queue.write({200'000 + post * 64, 64});
    link.publish(64 + (post % 10) * 8, {post});
  }
  while (link.drain(kSentRowBytes) > 0) {
  }
  EXPECT_TRUE(link.queue.empty());
  for (std::uint64_t post = 99'991; post <= 100'000; ++post) {
    EXPECT_EQ(link.replica.word(64 + (post % 10) * 8), post);
  }
  EXPECT_LE(link.writer.frames_sent(), 2 * PostQueue::kChunksMax);
}

// As after a change of view.
TEST(FrameWriter, SendsOnceWhatIsPostedAgainWhileItWaits) {
  Link link;
  constexpr std::uint32_t kMuch = 1 << 20;
  link.queue.write({4096, kMuch});
  link.queue.publish(64, std::as_bytes(std::span(&kSentEpoch, 1)));
  link.drain(100);  // it has begun to go out
  link.queue.write({4096 + kMuch, kMuch});
  link.queue.publish(64, std::as_bytes(std::span(&kSentEpoch, 1)));
  for (int view = 0; view < 5; ++view) {
    for (std::uint32_t at = 0; at < kMuch; at += kMuch / 4) {
      link.queue.write({4096 + kMuch + at, kMuch / 4});
    }
    link.queue.publish(72, std::as_bytes(std::span(&kSentEpoch, 1)));
  }
  link.queue.write({4096, 8});  // of what goes out just now a part may have gone
  link.drain_all();
  EXPECT_LT(link.writer.payload_sent(), 2 * kMuch + 4096);
  EXPECT_GT(link.writer.payload_sent(), 2 * kMuch);
}

TEST(FrameWriter, SendsManyScatteredExtents) {
  Link link;
  for (std::uint64_t post = 0; post < 1000; ++post) {
    link.ours.word(4096 + post * 64) = post + 1;
    link.queue.write({4096 + post * 64, 8});
  }
  link.publish(64, {1000});
  while (link.replica.word(64) == 0) ASSERT_GT(link.drain(777), 0U);
  EXPECT_TRUE(link.queue.empty());
  for (std::uint64_t post = 0; post < 1000; ++post) {
    ASSERT_EQ(link.replica.word(4096 + post * 64), post + 1);
  }
}

TEST(FrameWriter, ForgetsEverythingWhenCleared) {
  Link link;
  link.queue.write({4096, 8});
  link.publish(64, {1});
  link.drain(10);
  link.queue.clear();
  EXPECT_TRUE(link.queue.empty());
  EXPECT_TRUE(link.writer.gather(link.queue).empty());
}

}  // namespace
}  // namespace tutti::tcp
