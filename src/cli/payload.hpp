/// \file payload.hpp
/// The honest payload of measurements: the sender writes every byte of a message in place, each
/// receiver reads every byte. A message is one 8-byte word, its seed, repeated; the seed differs
/// with sender and index. Its lowest bit says that the second word is a time stamp.
/// With --verify the words count up from the seed instead, so that misplaced ones are found too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti::cli {

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
/// Room for the seed and a time stamp: smaller messages carry no stamp.
inline constexpr std::size_t kStampedMinBytes = 2 * kWordBytes;

/// Seed of the `index`-th message of `sender`.
[[nodiscard]] inline std::uint64_t seed_of(std::uint32_t sender, std::uint64_t index,
                                           bool stamped) {
  const std::uint64_t mixed = (index + 1) * 0x9E3779B97F4A7C15 + sender * 0xC2B2AE3D27D4EB4F;
  return mixed << 1 | static_cast<std::uint64_t>(stamped);
}

[[nodiscard]] inline std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, kWordBytes);
  return word;
}

[[nodiscard]] inline bool is_stamped(std::uint64_t seed) { return (seed & 1) != 0; }

inline void set_stamp(std::byte* message, std::int64_t ns) {
  std::memcpy(message + kWordBytes, &ns, sizeof(ns));
}

[[nodiscard]] inline std::int64_t stamp_of(const std::byte* message) {
  return static_cast<std::int64_t>(load_word(message + kWordBytes));
}

// Explicit vectors of the size that every x86-64 and arm64 moves at once: the loops below then run
// at the speed of memory without flags for newer processors.
using WordPair [[gnu::vector_size(16)]] = std::uint64_t;
inline constexpr std::size_t kBlockBytes = 64;  // one turn of the loops: a cache line

[[nodiscard]] inline WordPair load_pair(const std::byte* from) {
  WordPair pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}

/// Writes all `size` bytes: whole words of `seed`, then its low bytes.
inline void fill(std::byte* message, std::size_t size, std::uint64_t seed) {
  const WordPair pair = {seed, seed};
  std::size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes) {
    std::memcpy(message + at, &pair, sizeof(pair));
    std::memcpy(message + at + 16, &pair, sizeof(pair));
    std::memcpy(message + at + 32, &pair, sizeof(pair));
    std::memcpy(message + at + 48, &pair, sizeof(pair));
  }
  for (; at + kWordBytes <= size; at += kWordBytes) std::memcpy(message + at, &seed, kWordBytes);
  if (at < size) std::memcpy(message + at, &seed, size - at);
}

/// Reads all `size` bytes: the sum of its 8-byte words, the last one padded with zeros.
[[nodiscard]] inline std::uint64_t sum(const std::byte* message, std::size_t size) {
  WordPair left = {0, 0};
  WordPair right = {0, 0};
  std::size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes) {
    left += load_pair(message + at) + load_pair(message + at + 16);
    right += load_pair(message + at + 32) + load_pair(message + at + 48);
  }
  left += right;
  std::uint64_t total = left[0] + left[1];
  for (; at + kWordBytes <= size; at += kWordBytes) total += load_word(message + at);
  if (at == size) return total;
  std::uint64_t word = 0;
  std::memcpy(&word, message + at, size - at);
  return total + word;
}

/// --verify: word i is seed + i.
inline void fill_counting(std::byte* message, std::size_t size, std::uint64_t seed) {
  std::size_t at = 0;
  for (; at + kWordBytes <= size; at += kWordBytes, ++seed) {
    std::memcpy(message + at, &seed, kWordBytes);
  }
  if (at < size) std::memcpy(message + at, &seed, size - at);
}

/// Whether all bytes are as fill_counting wrote them, but for the time stamp.
[[nodiscard]] inline bool counts_from(std::uint64_t seed, const std::byte* message,
                                      std::size_t size) {
  const bool stamped = size >= kStampedMinBytes && is_stamped(seed);
  std::size_t at = 0;
  for (; at + kWordBytes <= size; at += kWordBytes, ++seed) {
    if (load_word(message + at) != seed && !(stamped && at == kWordBytes)) return false;
  }
  return at == size || std::memcmp(message + at, &seed, size - at) == 0;
}

}  // namespace tutti::cli
