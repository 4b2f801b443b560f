/// \file local_aru.hpp
/// Up to which number this member has all messages: it walks the records that have come, header by
/// header, from number to number.
///
/// Invariants:
///  TK4  A number has one record, of one sender. Its header says it, or follows from the header
///      before (R3). So no word need tell which numbers a sender was given.
///  TK5  The walk reads records that are not delivered yet, so their space is not used again.
/// Threads: the predicate thread.
/// Source: [Accelerated Ring, III-B], "local aru".
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/ring_cursor.hpp"
#include "multicast/view_state.hpp"

namespace tutti {

template <class Memory>
class LocalAru {
 public:
  explicit LocalAru(ViewState<Memory>& state) : state_(state), walks_(state.shape.senders()) {}

  /// Walks over what was received since. A record that cannot be becomes a violation.
  void advance();
  /// The records of all numbers below it are here.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  enum class Next : std::uint8_t { elsewhere, here, impossible };
  [[nodiscard]] Next look(SenderIndex sender);

  ViewState<Memory>& state_;
  IndexedBy<SenderIndex, std::optional<RingWalk<Memory>>> walks_;  // once it has a record
  std::uint64_t number_ = 0;
  SenderIndex turn_{};  // whose record had the last number
};

}  // namespace tutti
