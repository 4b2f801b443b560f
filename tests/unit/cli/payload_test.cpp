#include "cli/payload.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::cli {
namespace {

constexpr std::byte kUntouched{0xA5};
constexpr std::size_t kSizes = 300;  // all tails and several blocks

TEST(Payload, FillWritesAllBytesAndNoMore) {
  for (std::size_t size = 0; size < kSizes; ++size) {
    std::vector<std::byte> message(size + 16, kUntouched);
    const std::uint64_t seed = 0x0102030405060708;
    fill(message.data(), size, seed);
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(message[i], std::byte(seed >> 8 * (i % 8))) << "size " << size << ", byte " << i;
    }
    for (std::size_t i = size; i < message.size(); ++i) ASSERT_EQ(message[i], kUntouched);
  }
}

TEST(Payload, SumReadsAllBytes) {
  for (std::size_t size = 1; size < kSizes; ++size) {
    std::vector<std::byte> message(size);
    fill(message.data(), size, seed_of(2, size, false));
    const std::uint64_t before = sum(message.data(), size);
    for (std::size_t i = 0; i < size; ++i) {
      message[i] ^= std::byte{1};
      ASSERT_NE(sum(message.data(), size), before) << "size " << size << ", byte " << i;
      message[i] ^= std::byte{1};
    }
  }
}

TEST(Payload, SumIsTheSumOfTheWords) {
  std::vector<std::byte> message(kSizes);
  for (std::size_t size = 0; size < kSizes; ++size) {
    fill_counting(message.data(), size, 1000);
    std::uint64_t expected = 0;
    for (std::size_t word = 0; word < size / 8; ++word) expected += 1000 + word;
    const std::uint64_t tail = 1000 + size / 8;
    expected += tail & ((std::uint64_t{1} << 8 * (size % 8)) - 1);
    ASSERT_EQ(sum(message.data(), size), expected) << size;
  }
}

TEST(Payload, SeedsDifferBySenderIndexAndStamp) {
  EXPECT_NE(seed_of(0, 0, false), seed_of(1, 0, false));
  EXPECT_NE(seed_of(0, 0, false), seed_of(0, 1, false));
  EXPECT_TRUE(is_stamped(seed_of(3, 17, true)));
  EXPECT_FALSE(is_stamped(seed_of(3, 17, false)));
}

TEST(Payload, VerificationFindsEveryChangedByte) {
  for (std::size_t size = 0; size < kSizes; ++size) {
    std::vector<std::byte> message(size);
    const std::uint64_t seed = seed_of(1, size, false);
    fill_counting(message.data(), size, seed);
    ASSERT_TRUE(counts_from(seed, message.data(), size)) << size;
    for (std::size_t i = 0; i < size; ++i) {
      message[i] ^= std::byte{1};
      ASSERT_FALSE(counts_from(seed, message.data(), size)) << "size " << size << ", byte " << i;
      message[i] ^= std::byte{1};
    }
  }
}

TEST(Payload, VerificationAllowsForTheTimeStampOnly) {
  std::vector<std::byte> message(64);
  const std::uint64_t seed = seed_of(1, 5, true);
  fill_counting(message.data(), message.size(), seed);
  set_stamp(message.data(), 123456);
  EXPECT_EQ(stamp_of(message.data()), 123456);
  EXPECT_TRUE(counts_from(seed, message.data(), message.size()));
  message[16] ^= std::byte{1};
  EXPECT_FALSE(counts_from(seed, message.data(), message.size()));
}

}  // namespace
}  // namespace tutti::cli
