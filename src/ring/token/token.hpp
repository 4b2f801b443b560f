/// \file token.hpp
/// The token of a ring: what it carries, and how a reader knows a whole one.
/// Source: [Accelerated Ring, III-A], whose names the fields have.
#pragma once
#include <cstdint>
#include <limits>

#include "base/prng.hpp"
#include "tutti/types.hpp"

namespace tutti {

inline constexpr Rank kNoAruId{std::numeric_limits<std::uint16_t>::max()};

struct Token {
  std::uint64_t visit = 0;  ///< it is for the member of rank visit modulo members
  std::uint64_t seq = 0;    ///< numbers given so far
  std::uint64_t aru = 0;    ///< all received up to: numbers below it, as far as it knows
  Rank aru_id = kNoAruId;   ///< the member that lowered aru, kNoAruId if none
  std::uint64_t fcc = 0;    ///< flow control count: messages of the last rotation

  friend bool operator==(const Token&, const Token&) = default;
};

inline constexpr std::uint64_t kFccMax = (1ULL << 48) - 1;

/// aru_id and fcc, in one word.
[[nodiscard]] constexpr std::uint64_t pack_turn(const Token& token) {
  return (std::uint64_t{token.aru_id.value} << 48) | token.fcc;
}
constexpr void unpack_turn(std::uint64_t word, Token& token) {
  token.aru_id = {static_cast<std::uint32_t>(word >> 48)};
  token.fcc = word & kFccMax;
}

/// TK1. Never 0.
[[nodiscard]] inline std::uint64_t check_of(const Token& token, std::uint64_t view) {
  std::uint64_t state = view;
  for (const std::uint64_t word : {token.visit, token.seq, token.aru, pack_turn(token)}) {
    state ^= word;
    state = splitmix64(state);
  }
  return state | 1;
}

}  // namespace tutti
