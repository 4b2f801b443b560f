/// \file pass_words.hpp
/// What a member says while it passes on, or takes, what a lost sender sent: behind its control
/// words of a group at Level::agreed, in the same block, and not part of an ordinary push.
///
///     number | sender | begin | offset | granules | sent | check | reach[sender] .. | seen[rank]
///     ..
///
/// The first seven name a *piece*: a run of whole records of the sender, with the bytes of its ring
/// from granule `offset` on, `granules` of them and at its end from 0 on. The bytes themselves are
/// in the member's pass area. `begin` records of the view come before the piece. `sent` is the
/// sender's word (sent_word.hpp); of a piece behind which others come, its records alone count.
///
/// Invariants:
///  H1  A piece counts for a reader if `check` is that of the words and of the bytes that it has
///      read. So neither words nor bytes need to land in an order, and a piece that is replaced
///      while somebody reads it is no piece.
///  H2  Pieces of a view are numbered from 1. The next one is written once all whom its owner does
///      not suspect have `seen` the last one.
///  H3  Like all words of the block they are of the view that its epoch names (row_layout.hpp, L3).
///  H4  `reach` tells how much its owner has of a sender: whole records only.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sst/column.hpp"
#include "sst/sender_index.hpp"
#include "tutti/types.hpp"

namespace tutti {

struct PassWords {
  using Word = Column<PassWords>;

  static constexpr Word kNumber{0};
  static constexpr Word kSender{8};  ///< its SenderIndex
  static constexpr Word kBegin{16};
  static constexpr Word kOffset{24};
  static constexpr Word kGranules{32};
  static constexpr std::uint64_t kLast = 1ULL << 63;  ///< with them: nothing comes behind it
  static constexpr Word kSent{40};
  static constexpr Word kCheck{48};
  static constexpr ColumnArray<PassWords, SenderIndex> kReach{56};
  /// In a group with so many senders.
  [[nodiscard]] static constexpr ColumnArray<PassWords, Rank> seen(std::size_t senders) {
    return {kReach.end(senders)};
  }

  [[nodiscard]] static constexpr std::size_t bytes(std::size_t senders, std::size_t nodes) {
    return seen(senders).end(nodes);
  }
};

/// Where a member's next record of a sender begins, and how many it has: in the view, modulo 2^32.
struct Reach {
  std::uint32_t records = 0;
  std::uint32_t offset = 0;  ///< within the ring, in granules
};
/// Never 0, which says that it has told nothing.
[[nodiscard]] constexpr std::uint64_t pack_reach(const Reach& reach) {
  return (std::uint64_t{reach.records} << 32) + reach.offset + 1;
}
[[nodiscard]] constexpr Reach unpack_reach(std::uint64_t word) {
  return {static_cast<std::uint32_t>((word - 1) >> 32), static_cast<std::uint32_t>(word - 1)};
}

/// Of a member's pass area, for a ring of so many bytes: a quarter of it, 64 KiB at most, but room
/// for the largest record and for the two pads that may stand before it (R1), each smaller than
/// what such a record takes, in units of the alignment. With less, a record behind long pads would
/// never be passed on.
[[nodiscard]] constexpr std::size_t pass_area_bytes(std::size_t ring_bytes,
                                                    std::size_t message_max_bytes,
                                                    std::size_t alignment) {
  const std::size_t some = std::min<std::size_t>(ring_bytes / 4, std::size_t{64} * 1024);
  const std::size_t record = (8 + message_max_bytes + alignment - 1) / alignment * alignment;
  return std::min(std::max(some, 3 * record), ring_bytes);
}

}  // namespace tutti
