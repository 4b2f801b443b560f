/// \file control_words.hpp
/// The columns of a group: what a member says of itself in one view, in its control block for that
/// view. The block is pushed as a whole: one small write carries all of it.
///
///     column       says                                              guarded by
///     epoch        the view that the block is for (L3)               -
///     base         where in its ring the view starts, of a sender,   epoch
///                  and whether it has all senders' rows, kMetAll,
///                  and has delivered all earlier views, kDrained
///     first_seq    the number of the view's first message, + 1       epoch
///     sent         records and rounds of the sender (sent_word.hpp)  epoch; guards the ring's
///     bytes delivered    how far it has delivered, as a position           epoch received[s]
///     rounds of each sender that it has                 epoch
#pragma once
#include <cstddef>
#include <cstdint>

#include "sst/column.hpp"

namespace tutti {

struct ControlWords {
  using Word = Column<ControlWords>;

  static constexpr Word kEpoch{0};
  static constexpr Word kBase{8};
  static constexpr Word kFirstSeq{16};  ///< 0: unknown
  static constexpr Word kSent{24};
  static constexpr Word kDelivered{32};
  static constexpr ColumnArray<ControlWords> kReceived{40};  ///< by sender

  static constexpr std::uint64_t kMetAll = 1ULL << 63;
  static constexpr std::uint64_t kDrained = 1ULL << 62;
  static constexpr std::uint64_t kBaseFlags = kMetAll | kDrained;

  /// Of the words of a group with so many senders.
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t senders) {
    return kReceived[senders].offset;
  }
};

}  // namespace tutti
