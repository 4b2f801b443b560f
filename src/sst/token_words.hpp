/// \file token_words.hpp
/// The columns of a group in the order token_ring: the token, and what lets an idle one rest.
/// Behind a member's control words, in the same block.
///
///     visit | seq | aru | turn | check     the token as it left its owner the last time
///     here                                 numbers below it are here (local aru), and a flag
///     parked | parked_seq                  the owner parked the token at that visit, with that seq
///     want                                 the owner wants the token that is parked there
///
/// Invariants:
///  TK1  The token counts for a reader if `check` is that of the words that it has read. So these
///      need not land in an order, and a torn token is no token.
///  TK2  Visits are counted in 64 bits, so no word of a view looks like one of a later visit.
///  TK3  They are of the view that the block's epoch names, as all its words (row_layout.hpp, L3).
#pragma once
#include <cstddef>
#include <cstdint>

#include "sst/control_words.hpp"

namespace tutti {

class TokenWords {
 public:
  using Word = ControlWords::Word;

  explicit constexpr TokenWords(std::size_t senders) : begin_(ControlWords::bytes(senders)) {}

  [[nodiscard]] constexpr Word visit() const { return at(0); }  ///< it is for; 0: it never left
  [[nodiscard]] constexpr Word seq() const { return at(1); }
  [[nodiscard]] constexpr Word aru() const { return at(2); }
  [[nodiscard]] constexpr Word turn() const { return at(3); }  ///< aru_id and fcc
  [[nodiscard]] constexpr Word check() const { return at(4); }
  [[nodiscard]] constexpr Word here() const { return at(5); }
  static constexpr std::uint64_t kWedged = 1ULL << 63;  ///< with `here`: it is the last one
  [[nodiscard]] constexpr Word parked() const { return at(6); }      ///< the visit + 1; 0: never
  [[nodiscard]] constexpr Word parked_seq() const { return at(7); }  ///< all have those below it
  [[nodiscard]] constexpr Word want() const { return at(8); }        ///< as parked(), of another

  static constexpr std::size_t kBytes = 9 * 8;

 private:
  [[nodiscard]] constexpr Word at(std::size_t index) const { return {begin_ + 8 * index}; }

  std::size_t begin_;
};

}  // namespace tutti
