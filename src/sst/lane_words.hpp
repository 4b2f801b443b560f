/// \file lane_words.hpp
/// The columns of a group in the order lcr, and the lane: what a member says to the one behind it.
/// The words are behind its control words, in the same block.
///
///     lane         granules that the owner has written to its lane in this view. It guards them.
///     taken        granules that it has taken from the lane of the member before it
///     lacking      wedged: of its own rounds, what others lack (below); 0: not told yet
///     needs[..]    of which senders it has a replica, so that it needs their bytes
///     stable[s]    rounds of the sender that every member has received
///     done[s]      the least position of the members from the one behind the sender to the owner
///
/// The *lane* is a ring buffer in the member's row, one for views of even and one for those of odd
/// number. Frames of it go to the member behind, and to no other (ring/lcr/frame.hpp).
///
/// Invariants:
///  LW1  Of one view, `lane`, `taken`, `stable` and `done` only grow, and each tells by itself what
///       it guards. So these may land in any order, with or after the lane's bytes in front.
///  LW2  A member writes no more than a lane's length beyond what the member behind has `taken`.
///  LW3  Bytes of a lane that are read in view v are written again in view v + 2 at the earliest. A
///       post of them that still waits may carry the new bytes (F-data): whom it is for has wedged
///       in view v, or was removed and hung up on, and takes no more frames of that view.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sst/control_words.hpp"
#include "sst/sender_index.hpp"

namespace tutti {

class LaneWords {
 public:
  using Word = ControlWords::Word;

  explicit constexpr LaneWords(std::size_t senders)
      : begin_(ControlWords::bytes(senders)), senders_(senders) {}

  [[nodiscard]] constexpr Word lane() const { return at(0); }
  [[nodiscard]] constexpr Word taken() const { return at(1); }
  [[nodiscard]] constexpr Word lacking() const { return at(2); }
  /// The word that says it of this sender, and its bit there. Every such word has kTold.
  [[nodiscard]] constexpr Word needs(SenderIndex sender) const { return at(3 + sender.value / 63); }
  [[nodiscard]] static constexpr std::uint64_t needs_bit(SenderIndex sender) {
    return std::uint64_t{1} << sender.value % 63;
  }
  [[nodiscard]] constexpr Word stable(SenderIndex sender) const {
    return at(3 + needs_words(senders_) + sender.value);
  }
  [[nodiscard]] constexpr Word done(SenderIndex sender) const {
    return at(3 + needs_words(senders_) + senders_ + sender.value);
  }
  static constexpr std::uint64_t kTold = 1ULL << 63;  ///< in `lacking` and `needs`

  [[nodiscard]] static constexpr std::size_t bytes(std::size_t senders) {
    return 8 * (3 + needs_words(senders) + 2 * senders);
  }

 private:
  [[nodiscard]] static constexpr std::size_t needs_words(std::size_t senders) {
    return (senders + 62) / 63;
  }
  [[nodiscard]] constexpr Word at(std::size_t index) const { return {begin_ + 8 * index}; }

  std::size_t begin_;
  std::size_t senders_;
};

/// What a wedged sender says of its own rounds in `lacking`: the first one that a member has not
/// received, and the round of its first record from there on. Both are counted back from the last
/// round that it sent, in one word, so that they land together.
struct Lacking {
  std::uint32_t from = 0;    ///< rounds that a member lacks, 31 bits; 0: none
  std::uint32_t record = 0;  ///< those from the first record among them on; 0: they have no record
};
[[nodiscard]] constexpr std::uint64_t pack_lacking(const Lacking& lacking) {
  return LaneWords::kTold | (std::uint64_t{lacking.from} << 32) | lacking.record;
}
[[nodiscard]] constexpr Lacking unpack_lacking(std::uint64_t word) {
  return {.from = static_cast<std::uint32_t>((word & ~LaneWords::kTold) >> 32),
          .record = static_cast<std::uint32_t>(word)};
}

/// Of a lane, for a ring of so many bytes: both are powers of two.
[[nodiscard]] constexpr std::size_t lane_bytes(std::size_t ring_bytes) {
  return std::clamp<std::size_t>(ring_bytes / 4, 1024, std::size_t{256} * 1024);
}

}  // namespace tutti
