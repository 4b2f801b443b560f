/// \file passed_pieces.hpp
/// The pieces of what a lost sender sent that the members of a group pass on to one another when
/// their view ends, at Level::agreed: how one is written to our row, read in another member's, and
/// acknowledged. PassOn decides which member passes on what, and to whom.
///
/// Words and invariants H1 to H4: sst/pass_words.hpp. The area may be written while a post of its
/// last piece waits for a member that is suspected since (F-data): that one finds no piece (H1).
/// Threads: the predicate thread.
/// Source: docs/decisions/0007, models/view_change.pml with AGREED=1.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "multicast/outbox.hpp"
#include "multicast/shape.hpp"
#include "sst/control_bytes.hpp"
#include "sst/pass_words.hpp"

namespace tutti {

/// What was passed on, all of it checked (H1).
struct PassedPiece {
  std::uint64_t number = 0;
  SenderIndex sender{};
  std::uint32_t begin = 0;   ///< records of the view before it, modulo 2^32
  std::uint32_t offset = 0;  ///< where it starts in the ring, in granules
  std::uint64_t sent = 0;    ///< the sender's word with it
  bool last = false;         ///< no piece comes behind it
  std::span<const std::uint64_t> words{};
};

template <class Memory>
class PassedPieces {
 public:
  PassedPieces(const GroupShape& shape, Memory memory);

  /// A piece of that member that we have not seen() yet. Its words last until the next call.
  [[nodiscard]] std::optional<PassedPiece> look(Rank member);
  /// The sender of the piece that the member shows, which may not be here yet; kNoSender if none
  /// is new.
  [[nodiscard]] SenderIndex sender_shown(Rank member) const;
  void seen(Rank member, std::uint64_t number);

  /// What a member has of a sender; nothing before it has told.
  [[nodiscard]] std::optional<Reach> reach(Rank member, SenderIndex sender) const;
  void tell(SenderIndex sender, const Reach& reach);

  /// H2: all members but the suspected have seen our last piece.
  [[nodiscard]] bool is_seen(const IndexedBy<Rank, bool>& suspected) const;
  /// Writes the next piece: so many granules of the ring from piece.offset on. Piece.number and
  /// piece.words are ignored. False: the sender is in this view no more, so it may have changed
  /// them.
  [[nodiscard]] bool pass(const PassedPiece& piece, std::uint32_t granules);

  /// What must be posted since the last call.
  [[nodiscard]] PassedPosts take_posts();
  /// Pieces that this member wrote in this view.
  [[nodiscard]] std::uint64_t passed() const { return number_; }

 private:
  [[nodiscard]] const std::byte* word(Rank member, PassWords::Word column) const {
    return shape_.member_controls[member] +
           control_bytes(shape_.order, shape_.senders(), shape_.logged) + column;
  }
  [[nodiscard]] std::byte* own_word(PassWords::Word column) const {
    return shape_.own_control + control_bytes(shape_.order, shape_.senders(), shape_.logged) +
           column;
  }
  // A word of another member, 0 if its block is of another view (H3).
  [[nodiscard]] std::uint64_t load(Rank member, PassWords::Word column) const;
  [[nodiscard]] std::uint32_t check(const PassedPiece& piece) const;

  const GroupShape& shape_;
  Memory memory_;
  std::uint64_t number_ = 0;             // of our last piece
  IndexedBy<Rank, std::uint64_t> seen_;  // as told
  std::vector<std::uint64_t> words_;
  PassedPosts posts_;
};

}  // namespace tutti
