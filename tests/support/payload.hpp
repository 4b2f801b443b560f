/// \file payload.hpp
/// Message contents that can be told apart: a function of who sent it and which one it is.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/prng.hpp"

namespace tutti::testing {

/// The seed of the `index`-th claim of `sender` in a group.
[[nodiscard]] inline std::uint64_t payload_seed(std::uint64_t group, std::uint32_t sender,
                                                std::uint64_t index) {
  std::uint64_t state = (group << 56) ^ (std::uint64_t{sender} << 48) ^ index;
  return splitmix64(state);
}

/// Calls `word(offset, bytes, value)` for each piece of at most 8 bytes of a content.
template <class Word>
void for_each_payload_word(std::size_t size, std::uint64_t seed, const Word& word) {
  for (std::size_t at = 0; at < size; at += sizeof seed) {
    const std::uint64_t value = splitmix64(seed);
    word(at, std::min(sizeof value, size - at), value);
  }
}

inline void fill_payload(std::span<std::byte> out, std::uint64_t seed) {
  for_each_payload_word(out.size(), seed, [&](std::size_t at, std::size_t bytes, auto value) {
    std::memcpy(out.data() + at, &value, bytes);
  });
}

[[nodiscard]] inline bool payload_is(std::span<const std::byte> in, std::uint64_t seed) {
  bool same = true;
  for_each_payload_word(in.size(), seed, [&](std::size_t at, std::size_t bytes, auto value) {
    same = same && std::memcmp(in.data() + at, &value, bytes) == 0;
  });
  return same;
}

}  // namespace tutti::testing
