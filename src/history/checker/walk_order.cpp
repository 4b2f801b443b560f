// All members deliver one sequence, without gaps, by the rule of the order, and each message after
// those that its sender had delivered (D6 D7 D9 M8).
#include <algorithm>

#include "history/checker/walk.hpp"

namespace tutti::history {

void Walk::check_order(const Step& step) {
  const std::uint64_t ordinal = step.event.position;
  if (step.in.began && ordinal != step.in.ending.next) {
    if (!life_.gaps()) {
      add(Property::D7, step.ref,
          "delivers ordinal " + std::to_string(ordinal) + " after ordinal " +
              std::to_string(step.in.ending.next - 1));
    }
  }
  check_round(step);
  if (in_tail(step)) return;
  const Group& group = *step.in.group;
  // Ordinals without gaps are within these bounds. An ordinal outside them is reported as a gap,
  // above or in another member's walk.
  const std::uint64_t at = ordinal - group.first_ordinal;
  if (ordinal < group.first_ordinal || at >= group.deliveries) return;
  Entry& entry = step.in.trace->sequence[at];
  if (entry.sender != 0) return check_against(step, entry);
  entry = {.sender = step.sender.number,
           .safe = is_safe(step.event),
           .ticket = static_cast<std::uint32_t>(step.event.number),
           .view = static_cast<std::uint32_t>(step.event.view),
           .crc = step.event.crc};
  check_first(step);
}

/// Below atomic, a member that does not go on may deliver messages in that view that nobody else
/// has: see check_ahead().
bool Walk::in_tail(const Step& step) const {
  InGroup& in = step.in;
  if (in.group->atomic()) return false;
  if (in.tail_view != step.event.view) {
    in.tail_view = step.event.view;
    const bool goes_on =
        installed_ < life_.installs.size() && life_.installs[installed_].view == view_ + 1;
    const bool ended = run_.cuts.contains({step.event.view, step.event.group}) ||
                       run_.views.contains(step.event.view + 1) || !run_.options.complete;
    in.tail = !goes_on && ended;
  }
  return in.tail;
}

void Walk::check_against(const Step& step, const Entry& entry) {
  Findings& findings = run_.findings;
  if (entry.sender != step.sender.number ||
      entry.ticket != static_cast<std::uint32_t>(step.event.number)) {
    findings.add(Property::D6,
                 run_.name(number_) + " delivers another message at this ordinal than others",
                 findings.keeps(Property::D6) ? with_other(step.ref) : std::vector<EventRef>{});
  } else if (entry.view != static_cast<std::uint32_t>(step.event.view)) {
    findings.add(Property::D3,
                 run_.name(number_) + " delivers a message in another view than others",
                 findings.keeps(Property::D3) ? with_other(step.ref) : std::vector<EventRef>{});
  } else if ((entry.safe != 0) != is_safe(step.event)) {
    findings.add(Property::D14, run_.name(number_) + " delivers as safe what others do not, or not",
                 findings.keeps(Property::D14) ? with_other(step.ref) : std::vector<EventRef>{});
  } else if (entry.crc != step.event.crc && step.sent.time == 0) {
    findings.add(Property::D6, run_.name(number_) + " delivers other bytes than others",
                 findings.keeps(Property::D6) ? with_other(step.ref) : std::vector<EventRef>{});
  }
}

/// The event and, if it can be found, another member's delivery of the same ordinal.
std::vector<EventRef> Walk::with_other(EventRef ref) const {
  const Event& event = run_.event(ref);
  for (std::uint32_t life = 0; life < number_; ++life) {
    const std::span<const Event> events = run_.lives[life].history->events;
    const auto found = std::ranges::find_if(events, [&](const Event& other) {
      return other.kind == EventKind::deliver && other.group == event.group &&
             other.position == event.position;
    });
    if (found != events.end()) {
      return {ref, EventRef{life, static_cast<std::uint64_t>(found - events.begin())}};
    }
  }
  return {ref};
}

/// Checks what holds for the message itself, whichever member delivers it.
void Walk::check_first(const Step& step) {
  if (step.sent.time == 0) return;
  const auto ordinal = static_cast<std::uint32_t>(step.event.position);
  if (static_cast<std::int32_t>(step.sent.after - ordinal) > 0) {
    add(Property::D9, step.ref,
        "delivers a message before one that its sender had delivered when it sent it, ordinal " +
            std::to_string(step.sent.after - 1));
    if (*step.sender.life == number_) {
      add(Property::D1, step.ref, "delivers a message of its own before it sends it");
    }
  }
  if (step.sent.wedged != 0 && step.sent.view == static_cast<std::uint32_t>(step.event.view)) {
    add(Property::M8, step.ref,
        "delivers a message in the view that its sender had wedged when it sent it");
  }
}

void Walk::check_round(const Step& step) {
  InGroup& in = step.in;
  if (!in.group->round_robin || step.sender.checked_view != step.event.view) return;
  const std::uint32_t rank = step.sender.rank;
  const std::uint32_t round = step.event.extra;
  if (in.round_view == step.event.view) {
    const auto rounds = static_cast<std::int32_t>(round - in.round);
    if (rounds < 0 || (rounds == 0 && rank <= in.round_rank)) {
      add(Property::D7, step.ref,
          "delivers round " + std::to_string(round) + " of rank " + std::to_string(rank) +
              " after round " + std::to_string(in.round) + " of rank " +
              std::to_string(in.round_rank));
    }
  }
  in.round_view = step.event.view;
  in.round = round;
  in.round_rank = rank;
}

}  // namespace tutti::history
