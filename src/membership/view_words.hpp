/// \file view_words.hpp
/// The membership's words in a row: some for the life of the member, and two blocks for views of
/// even and odd number, like the control blocks of groups (sst/row_layout.hpp, L3).
///
///     installed | heartbeat | leaving | ready ...
///     per block: epoch | wedged | settled | accepted | decided | suspected ...
///                | proposal 0 | proposal 1
///     after the blocks, if groups may be joined at run time: the member's wishes
///     (group_wishes.hpp)
///
/// Invariant L4: a block is cleared for view k + 1 only once all members of view k that are not
/// suspected have left view k - 1, and at all that may be in view k + 1, joiners too, before the
/// words of that view come: words of one post land in any order. L5: a proposal is written where
/// the last accepted one is not, before the word that says it is accepted. L6: what is accepted is
/// published before the word that says it is decided, and read after it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fabric/slot.hpp"
#include "sst/column.hpp"
#include "sst/row_layout.hpp"

namespace tutti {

class ViewWords {
 public:
  /// For so many nodes, and proposals and lists of wishes of at most so many words.
  ViewWords(std::uint32_t nodes, std::size_t proposal_words, std::size_t wish_words = 0)
      : nodes_(nodes), proposal_words_(proposal_words), wish_words_(wish_words) {}

  // For the life of the member, in its row. Nothing guards them: each says all by itself.
  struct Life;
  using LifeWord = Column<Life>;
  static constexpr LifeWord kInstalled{kMembershipOffset};      ///< number of the view it is in
  static constexpr LifeWord kHeartbeat{kMembershipOffset + 8};  ///< grows while it runs
  static constexpr LifeWord kLeaving{kMembershipOffset + 16};   ///< 1: wants to leave in order
  /// Of a slot: the incarnation of the node there, if it is connected to us, and we to it.
  [[nodiscard]] static constexpr LifeWord ready(Slot slot) {
    return ColumnArray<Life>{kMembershipOffset + 24}[slot.value];
  }
  /// Bytes of these, from kInstalled on.
  [[nodiscard]] std::size_t life_bytes() const {
    return ready(Slot{nodes_}).offset - kInstalled.offset;
  }

  // In a block. The epoch guards all others (L3), kAccepted its proposal (L5), kDecided kAccepted.
  using Word = Column<ViewWords>;
  static constexpr Word kEpoch{0};
  static constexpr Word kWedged{8};
  static constexpr Word kSettled{16};   ///< 1 + number of suspected members it settled without
  static constexpr Word kAccepted{24};  ///< (1 + rank of the proposer) * 2 + which proposal
  static constexpr Word kDecided{32};   ///< 1: the accepted proposal is decided
  /// A bit per slot. In view 0 its owner's own bit: it only joins an existing group (J7).
  static constexpr ColumnArray<ViewWords> kSuspected{40};

  [[nodiscard]] std::size_t suspected_words() const { return (nodes_ + 63) / 64; }
  /// Bytes of all but the proposals: what is published at once.
  [[nodiscard]] std::size_t word_bytes() const { return kSuspected[suspected_words()].offset; }
  [[nodiscard]] std::size_t proposal(std::size_t which) const {
    return word_bytes() + which * proposal_bytes();
  }
  [[nodiscard]] std::size_t proposal_bytes() const { return 8 * proposal_words_; }
  [[nodiscard]] std::size_t block_bytes() const { return proposal(2); }

  /// Where the block of a view is in the row.
  [[nodiscard]] std::size_t block(std::uint64_t view) const {
    return on_line(ready(Slot{nodes_}).offset) + (view % 2) * on_line(block_bytes());
  }
  /// Where the wishes are in the row, for the life of the member.
  [[nodiscard]] std::size_t wishes() const { return block(1) + on_line(block_bytes()); }
  [[nodiscard]] std::size_t wish_bytes() const { return 8 * wish_words_; }
  /// What a RowLayout leaves for all of this.
  [[nodiscard]] std::size_t bytes() const {
    const std::size_t end = wish_words_ == 0 ? block(1) + block_bytes() : wishes() + wish_bytes();
    return end - kMembershipOffset;
  }

 private:
  static constexpr std::size_t on_line(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::uint32_t nodes_;
  std::size_t proposal_words_;
  std::size_t wish_words_;
};

}  // namespace tutti
