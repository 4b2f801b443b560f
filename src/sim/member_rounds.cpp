// Which rounds a member's messages take up, as its row says (D7).
#include "sim/member.hpp"
#include "sim/rounds.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {

// A step takes one batch of records. Its rounds are the last ones with the order token_ring, which
// passes over those of others first; with round_robin they are the first, for rounds are given up
// after it (Multicast::send).
void Member::note_rounds(std::uint16_t group) {
  const GroupShape& shape = engine_->subgroup(group).shape();
  if (shape.own_sender == kNoSender) return;
  // In the middle of a pass its row may not be in that view yet.
  if (NativeMemory::load(shape.own_control + ControlWords::kEpoch) != shape.view) return;
  Seat& seat = seats_[group];
  if (shape.view != seat.sent_view) seat.sent_state = {};
  seat.sent_view = shape.view;
  const std::uint64_t word = NativeMemory::load(shape.own_control + ControlWords::kSent);
  const SentState before = seat.sent_state;
  static_cast<void>(advance(seat.sent_state, word, ~0U));
  const std::uint64_t count = seat.sent_state.records - before.records;
  if (count == 0) return;
  const bool numbered = plan_.rows.groups[group].order == Order::token_ring;
  plan_.rounds->add(self_, group,
                    {.view = shape.view,
                     .ticket = shape.own_base_records + before.records + 1,
                     .round = numbered ? seat.sent_state.rounds - count : before.rounds,
                     .count = count});
}

std::uint64_t Member::round_of(std::uint16_t group, const ViewMember& sender,
                               std::uint64_t ticket) {
  if (plan_.rows.groups[group].level == Level::unordered) return 0;
  const auto round = plan_.rounds->find(sender, group, told_.id, ticket);
  if (!round && finding_.empty()) {
    finding_ = "D7: " + name() + " delivered in view " + std::to_string(told_.id) + " message " +
               std::to_string(ticket) + " of " + plan_.rows.names[sender.slot] +
               ", which has not sent it in that view";
  }
  return round.value_or(0);
}

}  // namespace tutti::sim
