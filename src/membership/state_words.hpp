/// \file state_words.hpp
/// Where in a row a member's state is handed to those who join.
///
///     view | sent | end | failed | taken 0 | taken 1 | then, on another line, the ring of bytes
///
/// The first four are the giver's: the view of those who join, how many bytes of the state were
/// ever put into the ring, 1 + how many there will be, and whether it could not be saved. The last
/// two are the joiner's: what it has taken of each giver, kTakenAll once it needs no more of
/// either.
/// Invariant L7: a word of the giver means something only to who reads its own view before it and
/// after it: the giver takes the view away before it clears the others, and shows the next one
/// after that.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tutti {

struct StateWords {
  std::size_t offset = 0;      ///< in the row, on a cache line
  std::size_t ring_bytes = 0;  ///< a power of two, at least 64

  static constexpr std::size_t kView = 0;
  static constexpr std::size_t kSent = 8;
  static constexpr std::size_t kEnd = 16;
  static constexpr std::size_t kFailed = 24;
  static constexpr std::size_t kTaken = 32;  ///< one for each giver
  static constexpr std::uint64_t kTakenAll = ~0ULL;
  static constexpr std::size_t kRing = 64;
  static constexpr std::size_t kGiverBytes = kTaken;  ///< of the giver's words

  [[nodiscard]] std::size_t bytes() const { return kRing + ring_bytes; }
};

}  // namespace tutti
