/// \file state_words.hpp
/// Where in a row a member's state is handed to joiners.
///
///     view | sent | failed | - | taken 0 | taken 1 | wanted 0 | wanted 1 | the ring of pieces
///
/// The first four are the giver's: the view of those who join, how many bytes were ever put into
/// the ring for them, and whether it could not be saved. The others are the joiner's, one for each
/// giver: how many of those bytes it has read, kTakenAll once it needs no more; and 1 + the piece
/// that the giver is to begin with, 0 if it needs nothing of it yet.
/// In the ring whole frames follow each other: position, size and flags, crc32c, the piece, padded.
/// Invariant L7: a word of the giver means something only to a reader that finds its own view
/// before it and after it: the giver takes the view away before it clears the others, and shows the
/// next one after that.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sst/column.hpp"

namespace tutti {

struct StateWords {
  std::size_t offset = 0;      ///< in the row, on a cache line
  std::size_t ring_bytes = 0;  ///< a power of two, at least 256

  using Word = Column<StateWords>;
  static constexpr Word kView{0};  ///< guards kSent and kFailed (L7)
  static constexpr Word kSent{8};  ///< guards the ring
  static constexpr Word kFailed{16};
  static constexpr ColumnArray<StateWords> kTaken{32};   ///< by giver; each says all by itself
  static constexpr ColumnArray<StateWords> kWanted{48};  ///< the same
  static constexpr std::uint64_t kTakenAll = ~0ULL;
  static constexpr std::size_t kRing = 64;
  static constexpr std::size_t kGiverBytes = kTaken.offset;  ///< of the giver's words
  static constexpr std::size_t kFrameHeaderBytes = 24;

  [[nodiscard]] std::size_t bytes() const { return kRing + ring_bytes; }
  /// Of a piece, at most; all but the last of a state are as large.
  [[nodiscard]] std::size_t piece_bytes() const { return ring_bytes / 4 - kFrameHeaderBytes; }
};

/// A piece of a state: `index` times the bytes of a piece come before it. In one word the positions
/// are in the order of giving.
struct PieceAt {
  std::uint64_t group = 0;
  std::uint64_t index = 0;

  static constexpr int kIndexBits = 48;
  [[nodiscard]] constexpr std::uint64_t word() const { return group << kIndexBits | index; }
  [[nodiscard]] static constexpr PieceAt from(std::uint64_t word) {
    return {word >> kIndexBits, word & ((1ULL << kIndexBits) - 1)};
  }
  auto operator<=>(const PieceAt&) const = default;
};

}  // namespace tutti
