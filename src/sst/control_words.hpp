/// \file control_words.hpp
/// The columns of a group: what a member says of itself in one view, in its control block for that
/// view. The block is pushed as a whole: one small write carries all of it.
///
/// `epoch` is the view that the block is for. It guards all other columns (L3):
///
///     base         of a sender: where in its ring the view starts, and two flags
///     first_seq    the number of the view's first message
///     sent         of a sender: its records and rounds (sent_word.hpp). It guards the ring, but
///                  in Order::lcr, where frames do (lane_words.hpp)
///     delivered    how far delivery has come (GroupOrder)
///     received[s]  rounds of each sender that are here, or delivered, as the order says
#pragma once
#include <cstddef>
#include <cstdint>

#include "sst/column.hpp"
#include "sst/sender_index.hpp"

namespace tutti {

struct ControlWords {
  using Word = Column<ControlWords>;

  static constexpr Word kEpoch{0};
  static constexpr Word kBase{8};
  static constexpr Word kFirstSeq{16};  ///< the number + 1; 0: unknown
  static constexpr Word kSent{24};
  static constexpr Word kDelivered{32};
  static constexpr ColumnArray<ControlWords, SenderIndex> kReceived{40};

  // Flags of kBase.
  static constexpr std::uint64_t kMetAll = 1ULL << 63;   ///< it has the rows of all senders
  static constexpr std::uint64_t kDrained = 1ULL << 62;  ///< it has delivered all earlier views
  static constexpr std::uint64_t kBaseFlags = kMetAll | kDrained;

  /// Of the words of a group with so many senders.
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t senders) {
    return kReceived.end(senders);
  }
};

}  // namespace tutti
