/// \file control_bytes.hpp
/// How long a member's control words of a group are: those that every group has, those of its
/// order, and of a group that is logged one more.
#pragma once
#include <cstddef>

#include "sst/control_words.hpp"
#include "sst/lane_words.hpp"
#include "sst/token_words.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// Behind those of the order, of a group that is logged: how far the member's log is on disk.
[[nodiscard]] constexpr ControlWords::Word persisted_word(Order order, std::size_t senders) {
  switch (order) {
    case Order::token_ring:
      return {ControlWords::bytes(senders) + TokenWords::kBytes};
    case Order::lcr:
      return {ControlWords::bytes(senders) + LaneWords::bytes(senders)};
    case Order::none:
    case Order::round_robin:
      break;
  }
  return {ControlWords::bytes(senders)};
}

/// In a group with that order and so many senders, which is logged or not.
[[nodiscard]] constexpr std::size_t control_bytes(Order order, std::size_t senders, bool logged) {
  return persisted_word(order, senders).offset + (logged ? std::size_t{8} : std::size_t{0});
}

}  // namespace tutti
