/// \file sender_index.hpp
/// The index of a sender: a type of its own, so that a member's rank does not compile in its place.
#pragma once
#include <compare>
#include <cstdint>
#include <limits>

namespace tutti {

/// Index among the senders of a view, in the order of their ranks: dense, from 0.
struct SenderIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const SenderIndex&, const SenderIndex&) = default;
};

inline constexpr SenderIndex kNoSender{std::numeric_limits<std::uint32_t>::max()};

/// Of so many senders the one whose turn is next; the first comes after the last.
[[nodiscard]] constexpr SenderIndex next_in_turn(SenderIndex sender, std::uint32_t senders) {
  return {sender.value + 1 == senders ? 0 : sender.value + 1};
}

}  // namespace tutti
