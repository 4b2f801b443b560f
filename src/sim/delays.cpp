#include "sim/delays.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "sim/member.hpp"

namespace tutti::sim {
namespace {

using history::Event;
using history::EventKind;

struct Suspicion {
  ViewMember of;
  std::uint64_t at_ns = 0;
};

// A member in a view.
struct Stay {
  const Member* who = nullptr;
  std::uint64_t entered_ns = 0;
  std::optional<std::uint64_t> wedged_ns{};
  std::optional<std::uint64_t> left_ns{};  // entered the next view
  std::vector<Suspicion> suspicions{};
};

struct InView {
  std::vector<ViewMember> members;  // in rank order
  std::uint64_t pieces = 0;         // that were passed on in it
  std::vector<Stay> stays;

  [[nodiscard]] bool has(const ViewMember& member) const {
    return std::ranges::find(members, member) != members.end();
  }
};

using Views = std::map<std::uint64_t, InView>;

void read(const Member& member, Views& views) {
  std::map<std::uint64_t, Stay> stays;
  for (const Entered& entry : member.entries()) {
    if (const auto before = stays.find(entry.view.id - 1); before != stays.end()) {
      before->second.left_ns = entry.at_ns;
    }
    views[entry.view.id].pieces += entry.pieces;
    stays[entry.view.id] = {.who = &member, .entered_ns = entry.at_ns};
    views[entry.view.id].members = entry.view.members.all();
  }
  for (const Event& event : member.recorder().events()) {
    const auto found = stays.find(event.view);
    if (found == stays.end()) continue;
    if (event.kind == EventKind::wedge) found->second.wedged_ns = event.time_ns;
    if (event.kind != EventKind::suspect) continue;
    found->second.suspicions.push_back({{event.peer, event.number}, event.time_ns});
  }
  for (auto& [id, stay] : stays) views[id].stays.push_back(std::move(stay));
}

// When each member that a survivor suspects was suspected by one of them first, in order of time.
std::vector<Suspicion> first_suspicions(const InView& view) {
  std::vector<Suspicion> out;
  for (const Stay& stay : view.stays) {
    if (!stay.left_ns) continue;
    for (const Suspicion& suspicion : stay.suspicions) {
      const auto known = std::ranges::find(out, suspicion.of, &Suspicion::of);
      if (known == out.end()) {
        out.push_back(suspicion);
      } else {
        known->at_ns = std::min(known->at_ns, suspicion.at_ns);
      }
    }
  }
  std::ranges::stable_sort(out, {}, &Suspicion::at_ns);
  return out;
}

const Member* find(const std::vector<const Member*>& members, const ViewMember& wanted) {
  const auto found =
      std::ranges::find_if(members, [&](const Member* member) { return member->self() == wanted; });
  return found == members.end() ? nullptr : *found;
}

// When those who join or leave had asked for it.
std::vector<std::uint64_t> requests(const std::vector<const Member*>& members, const InView& view,
                                    const InView& next) {
  std::vector<std::uint64_t> out;
  for (const ViewMember& member : view.members) {
    const Member* leaver = next.has(member) ? nullptr : find(members, member);
    if (leaver != nullptr && leaver->asked_to_leave_ns()) {
      out.push_back(*leaver->asked_to_leave_ns());
    }
  }
  for (const ViewMember& joiner : next.members) {
    if (view.has(joiner)) continue;
    for (const ViewMember& other : next.members) {
      for (const auto& [from, to] : {std::pair(joiner, other), std::pair(other, joiner)}) {
        const Member* one = find(members, from);
        const auto at = one == nullptr ? std::nullopt : one->connected_ns(to);
        if (at) out.push_back(*at);
      }
    }
  }
  return out;
}

// A member was suspected that led the change, which had begun.
bool leader_died(const InView& view, const std::vector<Suspicion>& suspicions,
                 std::uint64_t wedged_ns, std::uint64_t entry_ns) {
  std::vector<ViewMember> left = view.members;
  for (const Suspicion& suspicion : suspicions) {
    if (suspicion.at_ns > entry_ns) break;
    if (suspicion.at_ns > wedged_ns && !left.empty() && left.front() == suspicion.of) return true;
    std::erase(left, suspicion.of);
  }
  return false;
}

struct Change {
  ChangeKind kind = ChangeKind::suspicion;
  std::uint64_t from_ns = 0;
};

class Course {
 public:
  Course(const std::vector<const Member*>& members, const InView& view, const InView& next)
      : view_(view), suspicions_(first_suspicions(view)), requests_(requests(members, view, next)) {
    for (const Stay& stay : view.stays) {
      if (stay.left_ns && stay.wedged_ns) wedged_ns_ = std::min(wedged_ns_, *stay.wedged_ns);
    }
  }

  [[nodiscard]] std::uint64_t suspicions() const { return suspicions_.size(); }

  // As seen by the survivor that enters the next view then.
  [[nodiscard]] Change until(std::uint64_t entry_ns) const {
    Change change;
    const auto starts = [&](std::uint64_t at_ns, ChangeKind kind) {
      if (at_ns > entry_ns || at_ns < change.from_ns) return;
      change = {kind, at_ns};
    };
    for (const std::uint64_t at_ns : requests_) starts(at_ns, ChangeKind::request);
    for (const Suspicion& one : suspicions_) starts(one.at_ns, ChangeKind::suspicion);
    if (change.from_ns == 0) change.from_ns = std::min(wedged_ns_, entry_ns);
    for (const Stay& stay : view_.stays) {
      if (stay.left_ns) starts(stay.entered_ns, change.kind);
    }
    if (leader_died(view_, suspicions_, wedged_ns_, entry_ns)) {
      change.kind = ChangeKind::leader_died;
    }
    return change;
  }

 private:
  const InView& view_;
  const std::vector<Suspicion> suspicions_;
  const std::vector<std::uint64_t> requests_;
  std::uint64_t wedged_ns_ = ~0ULL;
};

}  // namespace

std::string in_delays(std::uint64_t hundredths) {
  return std::to_string(hundredths / 100) + "." + std::to_string(hundredths / 10 % 10) +
         std::to_string(hundredths % 10);
}

void Disturbances::add(std::uint64_t from_ns, std::uint64_t until_ns) {
  added_ns_ = std::max(added_ns_, until_ns);
  if (spans_.empty() || spans_.back().until_ns < from_ns) {
    spans_.push_back({from_ns, until_ns});
  } else {
    spans_.back().until_ns = std::max(spans_.back().until_ns, until_ns);
  }
}

void Disturbances::end(std::uint64_t at_ns) {
  added_ns_ = std::min(added_ns_, at_ns);
  if (!spans_.empty() && open_ == 0) {
    spans_.back().until_ns = std::min(spans_.back().until_ns, at_ns);
  }
}

void Disturbances::open(std::uint64_t from_ns) {
  const std::uint64_t added_ns = added_ns_;
  add(from_ns, ~0ULL);
  added_ns_ = added_ns;
  ++open_;
}

void Disturbances::close(std::uint64_t at_ns) {
  if (--open_ == 0) spans_.back().until_ns = std::max(at_ns, added_ns_);
}

bool Disturbances::any_in(std::uint64_t from_ns, std::uint64_t until_ns) const {
  const auto after = std::ranges::partition_point(
      spans_, [&](const Span& span) { return span.until_ns < from_ns; });
  return after != spans_.end() && after->from_ns <= until_ns;
}

Delays delays_of(const std::vector<const Member*>& members, const Disturbances& disturbances,
                 std::uint64_t one_way_ns, std::uint64_t look_every_ns, std::uint64_t write_ns) {
  Delays delays;
  Views views;
  for (const Member* member : members) read(*member, views);
  for (const auto& [id, view] : views) {
    const auto next = views.find(id + 1);
    if (next == views.end()) continue;
    const Course course(members, view, next->second);
    for (const Stay& stay : view.stays) {
      if (!stay.left_ns) continue;
      const Change change = course.until(*stay.left_ns);
      if (disturbances.any_in(change.from_ns, *stay.left_ns)) continue;
      const std::uint64_t took = (*stay.left_ns - change.from_ns) * 100 / one_way_ns;
      const auto kind = static_cast<std::size_t>(change.kind);
      ++delays.counted[kind];
      delays.worst[kind] = std::max(delays.worst[kind], took);
      const std::uint64_t pieces = std::min(
          view.pieces, kPiecesPerReceiver * course.suspicions() * (view.members.size() - 1));
      const std::uint64_t awaited_ns =
          kWordsAwaitingALook[kind] * look_every_ns + kWritesAwaited[kind] * write_ns;
      const std::uint64_t awaited = (awaited_ns * 100 + one_way_ns - 1) / one_way_ns;
      const std::uint64_t due = kDelayBounds[kind] + awaited + pieces * kPieceDelays;
      if (took <= due || !delays.too_long.empty()) continue;
      delays.too_long = "G12: " + stay.who->name() + " entered view " + std::to_string(id + 1) +
                        " " + in_delays(took) + " one-way delays after the change began, at " +
                        std::to_string(change.from_ns) + " ns; at most " + in_delays(due) +
                        " are due";
    }
  }
  return delays;
}

}  // namespace tutti::sim
