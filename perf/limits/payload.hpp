/// \file payload.hpp
/// The honest payload of all our measurements: the sender writes every byte of a message, the
/// receiver reads every byte. Used by the limit programs and by `tutti perf`, so that both do the
/// same work. A message is its seed repeated in 8-byte words; its sum is known from seed and size,
/// so that what was read can be checked. Not a checksum: it does not see words that changed places.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace limits {

inline constexpr size_t kWordBytes = sizeof(uint64_t);
inline constexpr size_t kBlockBytes = 64;  // one turn of the loops below: a cache line

using Pair [[gnu::vector_size(16)]] = uint64_t;  // what every x86-64 and arm64 moves at once

[[nodiscard]] inline Pair load_pair(const std::byte* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}

/// Writes all `size` bytes: whole words of `seed`, then its low bytes.
inline void fill(std::byte* bytes, size_t size, uint64_t seed) {
  const Pair pair = {seed, seed};
  size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes) {
    std::memcpy(bytes + at, &pair, sizeof(pair));
    std::memcpy(bytes + at + 16, &pair, sizeof(pair));
    std::memcpy(bytes + at + 32, &pair, sizeof(pair));
    std::memcpy(bytes + at + 48, &pair, sizeof(pair));
  }
  for (; at + kWordBytes <= size; at += kWordBytes) std::memcpy(bytes + at, &seed, kWordBytes);
  if (at < size) std::memcpy(bytes + at, &seed, size - at);
}

/// Reads all `size` bytes: the sum of its 8-byte words, the last one padded with zeros.
[[nodiscard]] inline uint64_t sum(const std::byte* bytes, size_t size) {
  Pair left = {0, 0};
  Pair right = {0, 0};
  size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes) {
    left += load_pair(bytes + at) + load_pair(bytes + at + 16);
    right += load_pair(bytes + at + 32) + load_pair(bytes + at + 48);
  }
  left += right;
  uint64_t total = left[0] + left[1];
  uint64_t word = 0;
  for (; at + kWordBytes <= size; at += kWordBytes) {
    std::memcpy(&word, bytes + at, kWordBytes);
    total += word;
  }
  if (at == size) return total;
  word = 0;
  std::memcpy(&word, bytes + at, size - at);
  return total + word;
}

/// What `sum` finds in a message that `fill` wrote (little-endian machines).
[[nodiscard]] inline uint64_t expected_sum(size_t size, uint64_t seed) {
  const size_t tail = size % kWordBytes;
  const uint64_t mask = (uint64_t{1} << (8 * tail)) - 1;
  return seed * (size / kWordBytes) + (seed & mask);
}

}  // namespace limits
