/// \file round_cut.hpp
/// What the words of a cut say in the orders that count rounds.
///
/// round_robin: everything before the position (round, sender) is delivered, but for records of
/// rounds from received[s] on: somebody that goes on lacks them, so they are nulls to all.
/// none: of each sender the rounds before received[s] are delivered, or, if that is kNoRound, what
/// each member has; round and sender are 0.
#pragma once
#include <cstdint>
#include <vector>

#include "multicast/cut.hpp"
#include "sst/sender_index.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

struct RoundCut {
  std::uint64_t round = 0;
  SenderIndex sender{};
  /// The rounds that all who go on have received.
  IndexedBy<SenderIndex, std::uint64_t> received{};

  friend bool operator==(const RoundCut&, const RoundCut&) = default;
};

[[nodiscard]] inline Cut pack(const RoundCut& cut) {
  Cut out{{cut.round, cut.sender.value}};
  out.words.insert(out.words.end(), cut.received.begin(), cut.received.end());
  return out;
}
/// A cut without words is that of a view without members.
[[nodiscard]] inline RoundCut unpack_round_cut(const Cut& cut) {
  if (cut.words.size() < 2) return {};
  return {.round = cut.words[0],
          .sender = {static_cast<std::uint32_t>(cut.words[1])},
          .received = IndexedBy<SenderIndex, std::uint64_t>(
              std::vector(cut.words.begin() + 2, cut.words.end()))};
}

}  // namespace tutti
