#include "relay/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/prng.hpp"
#include "unit/relay/some_frames.hpp"

namespace tutti::relay {
namespace {

using testing::kPayload;
using testing::NamedFrame;
using testing::one_of_each;

std::vector<std::byte> bytes_of(const Frame& frame) {
  std::vector<std::byte> bytes;
  encode(frame, bytes);
  return bytes;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte one : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(one));
    text += digits;
  }
  return text;
}

// The golden bytes are the protocol: if this fails, other clients do not understand this relay.
TEST(Frames, HaveTheGoldenBytes) {
  std::ifstream golden(TUTTI_GOLDEN_FRAMES);
  std::string name;
  std::string bytes;
  for (const NamedFrame& one : one_of_each()) {
    ASSERT_TRUE(golden >> name >> bytes) << one.name;
    EXPECT_EQ(name, one.name);
    EXPECT_EQ(bytes, hex(bytes_of(one.frame))) << name;
  }
  EXPECT_FALSE(golden >> name);
}

TEST(Frames, OfEachKindComeOutAsTheyWentIn) {
  const auto all = one_of_each();
  ASSERT_EQ(all.size(), std::variant_size_v<Frame>);
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    ASSERT_EQ(all[kind].frame.index(), kind);
    const std::vector<std::byte> bytes = bytes_of(all[kind].frame);
    const auto decoded = decode(std::span(bytes).subspan(4));
    ASSERT_TRUE(decoded) << all[kind].name;
    EXPECT_EQ(bytes_of(*decoded), bytes);
  }
}

TEST(Frames, OfSamplesHaveTheSameBytesByThemselves) {
  for (const Sample& sample :
       {Sample{1, 58, 2, 1000, kPayload}, Sample{.subscription = ~0U, .position = kNone}}) {
    std::vector<std::byte> bytes;
    encode(sample, bytes);
    EXPECT_EQ(hex(bytes), hex(bytes_of(Frame(sample))));
  }
}

TEST(Frames, ThatAreShorterOrLongerAreRefused) {
  for (const NamedFrame& one : one_of_each()) {
    std::vector<std::byte> bytes = bytes_of(one.frame);
    for (std::size_t size = 0; size + 4 < bytes.size(); ++size) {
      EXPECT_FALSE(decode(std::span(bytes).subspan(4, size))) << one.name << " " << size;
    }
    bytes.push_back({});
    EXPECT_FALSE(decode(std::span(bytes).subspan(4))) << one.name;
  }
}

// The address sanitizer watches that nothing outside is read.
TEST(Frames, ThatAreSpoiltAreRefusedOrSound) {
  Prng random(1);
  std::size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    for (const NamedFrame& one : one_of_each()) {
      std::vector<std::byte> bytes = bytes_of(one.frame);
      bytes.erase(bytes.begin(), bytes.begin() + 4);
      for (std::uint64_t i = 0; i <= random.below(3); ++i) {
        bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
      }
      const auto decoded = decode(bytes);
      refused += decoded ? 0 : 1;
      if (!decoded) continue;
      const std::vector<std::byte> again = bytes_of(*decoded);
      EXPECT_TRUE(std::ranges::equal(std::span(again).subspan(4), bytes)) << one.name;
    }
  }
  EXPECT_GT(refused, 3000U);
}

TEST(FrameReader, PutsPiecesTogether) {
  std::vector<std::byte> bytes;
  for (const NamedFrame& one : one_of_each()) encode(one.frame, bytes);
  for (const std::size_t piece : {1U, 3U, 7U, 1000U}) {
    FrameReader reader(1 << 16);
    std::size_t frames = 0;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
      for (;;) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame) << frame.error().message;
        if (!*frame) break;
        EXPECT_EQ((*frame)->index(), frames++);
      }
    }
    EXPECT_EQ(frames, one_of_each().size());
  }
}

TEST(FrameReader, RefusesALengthBeforeItTakesMemory) {
  FrameReader reader(kHelloBytesMax);
  const std::array<std::byte, 4> four_gib{std::byte{255}, std::byte{255}, std::byte{255},
                                          std::byte{255}};
  reader.append(four_gib);
  const auto frame = reader.next();
  ASSERT_FALSE(frame);
  EXPECT_NE(frame.error().message.find("4294967295"), std::string::npos);
  EXPECT_LT(reader.held(), 100U);

  FrameReader other(16 << 20);
  const std::array<std::byte, 4> announced{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}};
  other.append(announced);
  ASSERT_TRUE(other.next());
  EXPECT_LT(other.held(), 100U);
}

TEST(FrameReader, RefusesAnEmptyFrameAndUnknownKinds) {
  for (const auto& [length, kind] : {std::pair{0, 1}, {1, 0}, {1, 25}, {1, 255}}) {
    FrameReader reader(100);
    const std::array bytes{static_cast<std::byte>(length), std::byte{}, std::byte{}, std::byte{},
                           static_cast<std::byte>(kind)};
    reader.append(bytes);
    EXPECT_FALSE(reader.next()) << length << " " << kind;
  }
}

}  // namespace
}  // namespace tutti::relay
