// What a member's history says, in words: what it suspects and decides, what its application does
// and is told.
#include <string>

#include "sim/story/teller.hpp"

namespace tutti::sim {
namespace {

using history::Event;
using history::EventKind;

std::string why(const Event& wedge) {
  switch (static_cast<history::WedgeReason>(wedge.detail)) {
    case history::WedgeReason::suspicion:
      return "";
    case history::WedgeReason::leave:
      return " because a member asks to leave";
    case history::WedgeReason::join:
      return " because a node wants to join";
    case history::WedgeReason::groups:
      return " because members wish to be in other groups";
    default:
      return " because another member has";
  }
}

std::string end_text(const Event& stopped) {
  switch (static_cast<history::StopReason>(stopped.detail)) {
    case history::StopReason::minority:
      return "stops: it cannot reach a majority of its view";
    case history::StopReason::left:
      return "ends: nothing is left to do here";
    default:
      return "stops";
  }
}

}  // namespace

// Followed by who is in it and who left.
std::string Teller::view_text(const std::vector<Event>& events, std::size_t& at) const {
  std::string members;
  std::string joined;
  std::string left;
  const std::uint64_t view = events[at].view;
  for (++at; at < events.size(); ++at) {
    const Event& next = events[at];
    if (next.kind != EventKind::view_member && next.kind != EventKind::view_left) break;
    const std::string& name = plan_.names[Slot{next.peer}];
    if (next.kind == EventKind::view_member) {
      members += (members.empty() ? "" : ", ") + name;
      if ((next.detail & history::kMemberJoined) != 0 && view != kFirstView) {
        joined += "; " + name + " joined";
      }
    } else if (view != kFirstView) {
      const bool leaves = next.detail == static_cast<std::uint8_t>(history::LeftReason::leave);
      left += "; " + name + (leaves ? " left" : " was lost");
    }
  }
  return "'s application is told: view " + std::to_string(view) + " is " + members + joined + left;
}

// Returns the index after what was told.
std::size_t Teller::tell_event(std::uint32_t slot, const std::vector<Event>& events,
                               std::size_t at) {
  const Event& first = events[at];
  const auto run_of = [&](EventKind kind) {
    MessageList list;
    for (; at < events.size() && (events[at].kind == kind || events[at].kind == EventKind::send_ok);
         ++at) {
      if (events[at].kind != kind) continue;
      const std::uint32_t sender = kind == EventKind::deliver ? events[at].peer : slot;
      list.add(plan_.names[Slot{sender}], events[at].number);
    }
    return list.text();
  };
  switch (first.kind) {
    case EventKind::send:
      tell(slot, "'s application sends " + run_of(first.kind));
      return at;
    case EventKind::deliver:
      tell(slot, "delivers " + run_of(first.kind));
      return at;
    case EventKind::send_fail:
      tell(slot, "'s application is told: " + run_of(first.kind) + " will not be delivered");
      return at;
    case EventKind::install:
      heard_[slot].views.emplace_back(first.view, view_text(events, at));
      return at;
    case EventKind::suspect:
      tell_also(slot, "suspects " + plan_.names[Slot{first.peer}]);
      break;
    case EventKind::wedge:
      tell_also(slot, "wedges view " + std::to_string(first.view) + why(first));
      break;
    case EventKind::decide:
      tell_also(slot, "has the decision");
      break;
    case EventKind::leave:
      tell(slot, "asks to leave");
      break;
    case EventKind::evicted:
      tell_also(slot, "finds that it was evicted");
      break;
    case EventKind::stopped:
      tell_also(slot, end_text(first));
      break;
    case EventKind::snapshot_out:
      tell(slot, "saves the state after " + counted(first.position, "message"));
      break;
    case EventKind::snapshot_in:
      tell(slot, "has loaded the state after " + counted(first.position, "message"));
      break;
    default:
      break;
  }
  return at + 1;
}

}  // namespace tutti::sim
