/// \file rounds_ahead.hpp
/// How far the rounds of senders may run ahead of what a member has delivered, so that the words
/// that tell of them can be read (sent_word.hpp).
///
/// A new highest round always has a record in it: nulls only follow the others (I3). So the rounds
/// from a member's position on are at most one more than the records that it has not delivered: the
/// windows of all senders. A reader that has looked at nothing for so long finds them all at once.
/// The order token_ring has its own bound, GroupOptions::maximum_gap, and without an order rounds
/// count one sender's records only.
#pragma once
#include <cstdint>
#include <optional>

#include "sst/sent_word.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// Along a chain a member takes less from the one before it than the member behind could take from
/// it: then what it hands on is possible there, and so are its own nulls, which follow.
inline constexpr std::uint64_t kChainAheadMax = kRoundsMask / 8;

/// The most that senders' windows may hold together in that order; nothing: no limit.
[[nodiscard]] constexpr std::optional<std::uint64_t> window_records_max(Order order) {
  switch (order) {
    case Order::round_robin:
      return kRoundsAtOnceMax - 1;
    case Order::lcr:
      return kChainAheadMax - 1;
    case Order::none:
    case Order::token_ring:
      break;
  }
  return {};
}

}  // namespace tutti
