// A peer's bytes are input: FrameReader applies whole frames in order, whatever the splits of the
// stream are, and survives anything else. Run with the sanitizers to see that it stays in bounds.
#include "fabric/tcp/frame_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "support/sanitized.hpp"

namespace tutti::tcp {
namespace {

constexpr std::uint64_t kReadEpoch = 7;
constexpr std::size_t kReadRowBytes = 256 * 1024;

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::mt19937_64& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void append(Bytes& stream, const void* bytes, std::size_t count) {
  const auto* begin = static_cast<const std::byte*>(bytes);
  stream.insert(stream.end(), begin, begin + count);
}

void append_frame(Bytes& stream, const FrameHeader& header, const Bytes& payload) {
  append(stream, &header, sizeof(header));
  append(stream, payload.data(), payload.size());
}

FrameHeader data_header(std::uint64_t offset, std::size_t bytes, std::uint64_t epoch = kReadEpoch) {
  return make_header(kDataMagic, static_cast<std::uint32_t>(bytes), epoch, offset);
}

FrameHeader control_header(const Bytes& payload, std::uint64_t epoch = kReadEpoch) {
  return make_header(kControlMagic, static_cast<std::uint32_t>(payload.size()), epoch,
                     payload_check(payload));
}

void append_record(Bytes& payload, std::uint64_t offset, const Bytes& words) {
  const ControlRecord record{.offset = offset, .bytes = words.size()};
  append(payload, &record, sizeof(record));
  append(payload, words.data(), words.size());
}

/// A reader and the replica it writes. The row ends where its allocation does, for the sanitizer.
struct Receiver {
  explicit Receiver(std::size_t row_bytes = kReadRowBytes)
      : words(std::make_unique<std::uint64_t[]>(row_bytes / 8)),
        row(reinterpret_cast<std::byte*>(words.get()), row_bytes),
        reader(row, kReadEpoch) {}

  /// Feeds up to `count` bytes, as a socket would; returns how many were taken.
  std::size_t feed(std::span<const std::byte> bytes) {
    std::size_t fed = 0;
    for (const iovec& target : reader.targets()) {
      const std::size_t here = std::min(target.iov_len, bytes.size() - fed);
      std::memcpy(target.iov_base, bytes.data() + fed, here);
      fed += here;
    }
    landed += reader.arrived(fed);
    return fed;
  }

  /// Feeds everything, or until the reader refuses.
  void feed_all(std::span<const std::byte> bytes) {
    while (!bytes.empty() && reader.error().empty()) bytes = bytes.subspan(feed(bytes));
  }

  [[nodiscard]] bool untouched() const {
    return std::all_of(row.begin(), row.end(), [](std::byte byte) { return byte == std::byte{}; });
  }

  std::unique_ptr<std::uint64_t[]> words;
  std::span<std::byte> row;
  FrameReader reader;
  std::size_t landed = 0;
};

/// A random stream, the row that it should leave, and how many posts it holds.
struct Script {
  explicit Script(std::uint64_t seed) : random(seed), row(kReadRowBytes) {
    for (int frame = 0; frame < 60; ++frame) add_frame();
  }

  void add_frame() {
    const std::uint64_t epoch = random() % 8 == 0 ? kReadEpoch + 1 : kReadEpoch;
    if (random() % 2 == 0) {
      const std::size_t bytes_max = random() % 4 == 0 ? 100'000 : 500;
      const Bytes payload = random_bytes(random, 1 + random() % bytes_max);
      const std::uint64_t offset = 64 + random() % (kReadRowBytes - 64 - payload.size() + 1);
      append_frame(stream, data_header(offset, payload.size(), epoch), payload);
      if (epoch == kReadEpoch) land(offset, payload);
    } else {
      Bytes payload;
      for (std::size_t record = 1 + random() % 5; record > 0; --record) {
        const std::size_t word_max = random() % 10 == 0 ? 5000 : 8;
        const Bytes words = random_bytes(random, 8 * (1 + random() % word_max));
        const std::uint64_t offset =
            64 + 8 * (random() % ((kReadRowBytes - 64 - words.size()) / 8));
        append_record(payload, offset, words);
        if (epoch == kReadEpoch) land(offset, words);
      }
      append_frame(stream, control_header(payload, epoch), payload);
    }
    if (epoch != kReadEpoch) ++stale;
  }

  void land(std::uint64_t offset, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), row.begin() + static_cast<std::ptrdiff_t>(offset));
    ++posts;
  }

  std::mt19937_64 random;
  Bytes stream;
  Bytes row;
  std::size_t posts = 0;
  std::uint64_t stale = 0;
};

// Three have each length of the pieces.
constexpr std::uint64_t kSplitSeeds = tutti::testing::kSanitized ? 12 : 150;

TEST(FrameReader, AppliesFramesWhateverTheSplitsOfTheStream) {
  for (std::uint64_t seed = 0; seed < kSplitSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Script script(seed);
    Receiver receiver;
    std::span<const std::byte> rest(script.stream);
    const std::size_t piece_max = seed % 3 == 0 ? 40 : seed % 3 == 1 ? 3000 : 400'000;
    while (!rest.empty()) {
      const std::size_t piece = std::min<std::size_t>(1 + script.random() % piece_max, rest.size());
      rest = rest.subspan(receiver.feed(rest.first(piece)));
      ASSERT_EQ(receiver.reader.error(), "");
    }
    EXPECT_FALSE(receiver.reader.in_frame());
    EXPECT_EQ(receiver.landed, script.posts);
    EXPECT_EQ(receiver.reader.stale_frames(), script.stale);
    EXPECT_TRUE(std::equal(script.row.begin(), script.row.end(), receiver.row.begin()));
  }
}

TEST(FrameReader, AppliesAControlFrameAllAtOnce) {
  Bytes payload;
  append_record(payload, 64, Bytes(8, std::byte{1}));
  append_record(payload, 4096, Bytes(16, std::byte{2}));
  Bytes stream;
  append_frame(stream, control_header(payload), payload);
  Receiver receiver;
  for (const std::byte& byte : stream) {
    EXPECT_TRUE(receiver.untouched());
    EXPECT_EQ(receiver.feed({&byte, 1}), 1U);
  }
  EXPECT_EQ(receiver.landed, 2U);
  EXPECT_EQ(receiver.row[64], std::byte{1});
  EXPECT_EQ(receiver.row[4096 + 15], std::byte{2});
}

TEST(FrameReader, RefusesAHeaderWithAnyByteChanged) {
  const Bytes data = Bytes(100, std::byte{9});
  Bytes control;
  append_record(control, 64, Bytes(24, std::byte{9}));
  for (const bool is_data : {true, false}) {
    const Bytes& payload = is_data ? data : control;
    Bytes stream;
    append_frame(stream, is_data ? data_header(64, data.size()) : control_header(control), payload);
    for (std::size_t at = 0; at < kFrameHeaderBytes; ++at) {
      for (int value = 1; value < 256; ++value) {
        Bytes changed = stream;
        changed[at] ^= static_cast<std::byte>(value);
        Receiver receiver(1024);
        receiver.feed_all(changed);
        ASSERT_TRUE(receiver.reader.error().starts_with("sent a corrupt frame: ")) << at;
        ASSERT_TRUE(receiver.untouched());
      }
    }
  }
}

TEST(FrameReader, RefusesControlWordsWithAnyByteChanged) {
  Bytes payload;
  append_record(payload, 64, Bytes(24, std::byte{9}));
  Bytes stream;
  append_frame(stream, control_header(payload), payload);
  for (std::size_t at = kFrameHeaderBytes; at < stream.size(); ++at) {
    Bytes changed = stream;
    changed[at] ^= std::byte{0x40};
    Receiver receiver(1024);
    receiver.feed_all(changed);
    EXPECT_EQ(receiver.reader.error(), "sent a corrupt frame: its control words' check is wrong");
    EXPECT_TRUE(receiver.untouched());
  }
}

TEST(FrameReader, RefusesDataOutsideTheRowOrInItsHeader) {
  const std::uint64_t huge = ~std::uint64_t{0};
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> pieces = {
      {0, 8},    {56, 16},         {63, 1},       {64, 961},        {1024, 1}, {1023, 2},
      {huge, 1}, {huge - 63, 128}, {huge / 2, 8}, {64, 0xFFFFFFFF}, {64, 0}};
  for (const auto& [offset, bytes] : pieces) {
    Bytes stream;
    append_frame(stream, data_header(offset, bytes), Bytes(4096, std::byte{9}));
    Receiver receiver(1024);
    receiver.feed_all(stream);
    EXPECT_TRUE(receiver.reader.error().starts_with("sent a corrupt frame: ")) << offset;
    EXPECT_TRUE(receiver.untouched());
  }
}

TEST(FrameReader, RefusesControlRecordsThatDoNotFit) {
  const std::uint64_t huge = ~std::uint64_t{0};
  const std::vector<ControlRecord> records = {
      {0, 8},  {56, 16},      {68, 8},   {64, 4},        {64, 0},        {64, 24},
      {64, 8}, {huge - 7, 8}, {1024, 8}, {64, huge - 7}, {64, huge - 15}};
  for (const ControlRecord& record : records) {
    Bytes payload;
    append_record(payload, 128, Bytes(8, std::byte{9}));  // good, but the frame as a whole is not
    append(payload, &record, sizeof(record));
    append(payload, Bytes(16, std::byte{9}).data(), 16);
    Bytes stream;
    append_frame(stream, control_header(payload), payload);
    Receiver receiver(1024);
    receiver.feed_all(stream);
    EXPECT_EQ(receiver.reader.error(),
              "sent a corrupt frame: its control words' offset is outside the row")
        << record.offset << " " << record.bytes;
    EXPECT_TRUE(receiver.untouched());
  }
}

TEST(FrameReader, RefusesControlFramesOfAnImpossibleLength) {
  for (const std::size_t bytes : {std::size_t{4}, kControlBytesMax + 8}) {
    Bytes stream;
    append_frame(stream,
                 make_header(kControlMagic, static_cast<std::uint32_t>(bytes), kReadEpoch, 0), {});
    Receiver receiver(1024);
    receiver.feed_all(stream);
    EXPECT_EQ(receiver.reader.error(),
              "sent a corrupt frame: its length is not that of control words");
  }
}

TEST(FrameReader, AppliesNothingAfterAnError) {
  Receiver receiver;
  receiver.feed_all(Bytes(kFrameHeaderBytes, std::byte{1}));
  EXPECT_EQ(receiver.reader.error(), "sent a corrupt frame: it does not begin as a frame does");
  EXPECT_TRUE(receiver.reader.targets().empty());
  EXPECT_EQ(receiver.reader.arrived(0), 0U);
  EXPECT_TRUE(receiver.untouched());
}

constexpr std::uint64_t kGarbageSeeds = tutti::testing::kSanitized ? 30 : 300;

TEST(FrameReader, SurvivesGarbage) {
  for (std::uint64_t seed = 0; seed < kGarbageSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Script script(seed);
    // The start of a good stream, then single bytes of the rest changed.
    const std::size_t good = script.random() % script.stream.size();
    for (std::size_t at = good; at < script.stream.size(); at += 1 + script.random() % 5000) {
      script.stream[at] = static_cast<std::byte>(script.random());
    }
    Receiver receiver;
    receiver.feed_all(script.stream);
    EXPECT_TRUE(std::all_of(receiver.row.begin(), receiver.row.begin() + 64,
                            [](std::byte byte) { return byte == std::byte{}; }));
    Receiver stranger;
    stranger.feed_all(random_bytes(script.random, 200'000));
    EXPECT_FALSE(stranger.reader.error().empty());
    EXPECT_TRUE(stranger.untouched());
  }
}

TEST(FrameReader, KnowsWhetherTheStreamEndedInsideAFrame) {
  Bytes stream;
  append_frame(stream, data_header(64, 100), Bytes(100, std::byte{9}));
  append_frame(stream, data_header(64, 100, kReadEpoch + 1), Bytes(100, std::byte{9}));
  Bytes payload;
  append_record(payload, 64, Bytes(8, std::byte{1}));
  append_frame(stream, control_header(payload), payload);
  Receiver receiver;
  std::size_t boundaries = 0;
  for (const std::byte& byte : stream) {
    receiver.feed({&byte, 1});
    boundaries += receiver.reader.in_frame() ? 0 : 1;
  }
  EXPECT_EQ(boundaries, 3U);
}

}  // namespace
}  // namespace tutti::tcp
