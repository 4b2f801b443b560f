/// \file control_bytes.hpp
/// How long a member's control words of a group are: those that every group has, and those of its
/// order.
#pragma once
#include <cstddef>

#include "sst/control_words.hpp"
#include "sst/lane_words.hpp"
#include "sst/token_words.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// In a group with that order and so many senders.
[[nodiscard]] constexpr std::size_t control_bytes(Order order, std::size_t senders) {
  switch (order) {
    case Order::token_ring:
      return ControlWords::bytes(senders) + TokenWords::kBytes;
    case Order::lcr:
      return ControlWords::bytes(senders) + LaneWords::bytes(senders);
    case Order::none:
    case Order::round_robin:
      break;
  }
  return ControlWords::bytes(senders);
}

}  // namespace tutti
