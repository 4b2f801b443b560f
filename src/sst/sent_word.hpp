/// \file sent_word.hpp
/// The guard of a sender's ring: how far it has sent, in one word so that it lands whole.
///
///     63        62 .. 32           31 .. 0
///     finished  rounds mod 2^31    records mod 2^32
///
/// `records` counts ring-buffer records published, `rounds` the rounds taken up by them and by
/// nulls; nulls take no space in the ring, so rounds - records of them lie between the records
/// (each record says how many come before it). A finished sender has nulls in every later round.
/// Invariant S1: all three only grow. A reader extends the counters to 64 bits, which is exact as
/// long as it is less than 2^30 behind; the flow windows keep it closer (rounds_ahead.hpp).
#pragma once
#include <cstdint>
#include <limits>

namespace tutti {

/// A round later than any that happens.
inline constexpr std::uint64_t kNoRound = std::numeric_limits<std::uint64_t>::max() / 4;

struct SentState {
  std::uint64_t records = 0;
  std::uint64_t rounds = 0;
  bool finished = false;

  friend bool operator==(const SentState&, const SentState&) = default;
  /// Rounds whose content is settled: all of them for a finished sender.
  [[nodiscard]] std::uint64_t known_rounds() const { return finished ? kNoRound : rounds; }
};

inline constexpr std::uint64_t kRoundsMask = (1ULL << 31) - 1;
/// The most rounds that a reader takes from one look at a word; more were never sent at once
/// (rounds_ahead.hpp).
inline constexpr std::uint64_t kRoundsAtOnceMax = kRoundsMask / 4;
inline constexpr std::uint64_t kFinishedBit = 1ULL << 63;

[[nodiscard]] inline std::uint64_t pack(const SentState& state) {
  return (state.records & 0xffffffffULL) | ((state.rounds & kRoundsMask) << 32) |
         (state.finished ? kFinishedBit : 0);
}

enum class SentChange : std::uint8_t { none, advanced, impossible };

/// Brings `state` up to a word read from the sender's row. A word that is older changes nothing
/// (S1 makes it harmless); one that no correct sender writes is reported and changes nothing.
[[nodiscard]] inline SentChange advance(SentState& state, std::uint64_t word,
                                        std::uint32_t window_records) {
  const auto records = static_cast<std::uint32_t>(word - state.records);
  const std::uint64_t rounds = ((word >> 32) - state.rounds) & kRoundsMask;
  const bool finished = (word & kFinishedBit) != 0;
  if (records == 0 && rounds == 0 && (state.finished || !finished)) return SentChange::none;
  if (rounds > kRoundsMask / 2) return SentChange::none;
  if (records > window_records || records > rounds || state.finished || rounds > kRoundsAtOnceMax) {
    return SentChange::impossible;
  }
  state.records += records;
  state.rounds += rounds;
  state.finished = finished;
  return SentChange::advanced;
}

}  // namespace tutti
