// Ticks that a member puts into a group's sequence, and those that it delivers.
#include <algorithm>

#include "base/crc32c.hpp"
#include "history/make_event.hpp"
#include "sim/member.hpp"

namespace tutti::sim {

void Member::ticked(std::size_t group, const PutTick& tick) {
  TicksSeen& seen = seats_[group].ticks;
  plan_.ticks->put(group, self_, tick, seen.at_ns == 0 && seen.time_ns == 0);
  seen.time_ns = std::max(seen.time_ns, std::uint64_t{1});  // no longer fresh
  if (finished_ && finding_.empty()) finding_ = "D16: " + name() + " has finished and ticks";
  seats_[group].waiting.push_back(tick.record.value);
  const auto* bytes = reinterpret_cast<const std::byte*>(&tick.time_ns);
  record(history::make_send(told_at(static_cast<std::uint16_t>(group)), tick.record,
                            sizeof tick.time_ns, crc32c({bytes, sizeof tick.time_ns})));
}

void Member::deliver_tick(std::uint16_t group, const Message& message, const ViewMember& clock) {
  const history::At at = told_at(group);
  Seat& seat = seats_[group];
  const std::uint64_t time_ns = message.tick()->time_ns;
  const TickWatch::Found found =
      plan_.ticks->deliver(group, clock, time_ns, net_.now_ns(), seat.ticks);
  if (!found.wrong.empty() && finding_.empty()) {
    finding_ = "D16: " + name() + " delivered " + found.wrong + ", of " +
               plan_.rows.names[clock.slot] + " as number " + std::to_string(message.seq.value) +
               " in view " + std::to_string(told_.id);
  }
  seat.state.digest = (seat.state.digest ^ crc32c(message.bytes())) * 0x9FB21C651E98DF25;
  seat.state.messages = message.seq.value + 1;
  record(history::make_deliver(at, {.sender = ref(clock),
                                    .ticket = found.record,
                                    .ordinal = message.seq,
                                    .length = message.size,
                                    .crc = crc32c(message.bytes()),
                                    .level = plan_.rows.groups[group].level,
                                    .send_view = at.view,
                                    .round = round_of(group, clock, found.record.value)}));
  if (clock != self_) return;
  std::erase(seat.waiting, found.record.value);
  record(history::make_send_ok(at, found.record));
}

// V7.
std::string Member::lacks_ticks(std::uint64_t for_ns) const {
  for (std::size_t g = 0; g < seats_.size(); ++g) {
    const bool ticks = plan_.rows.groups[g].tick_every.count() != 0 && seats_[g].is_member;
    if (!ticks || net_.now_ns() - seats_[g].ticks.at_ns <= for_ns) continue;
    return "V7: " + name() + " has delivered no tick of group " + std::to_string(g) + " since " +
           std::to_string(seats_[g].ticks.at_ns) + " ns";
  }
  return {};
}

}  // namespace tutti::sim
