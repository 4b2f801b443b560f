// When a member could hear no majority of its view, for longer than it may go on then (V3).
#include <algorithm>

#include "history/make_event.hpp"
#include "sim/world.hpp"

namespace tutti::sim {
namespace {

using Span = Troubles::Span;
using Spans = Troubles::Spans;

// In order, those that touch as one.
Spans joined(Spans spans) {
  std::ranges::sort(spans, {}, &Span::begin_ns);
  Spans out;
  for (const Span& span : spans) {
    if (out.empty() || span.begin_ns > out.back().end_ns) {
      out.push_back(span);
    } else {
      out.back().end_ns = std::max(out.back().end_ns, span.end_ns);
    }
  }
  return out;
}

// Up to when nothing is heard from that time on; that time if something is.
std::uint64_t silent_until(const Spans& spans, std::uint64_t from_ns) {
  for (const Span& span : spans) {
    if (span.begin_ns <= from_ns && span.end_ns > from_ns) return span.end_ns;
  }
  return from_ns;
}

}  // namespace

// It suspects whom it has not heard for suspect_after, counted in looks (watched_time.hpp). What
// was posted before may be heard yet.
std::uint64_t World::stop_bound_ns() const {
  return 3 * options_.suspect_after_ns / 2 + options_.heartbeat_ns + 2 * one_way_ns() + flight_ns();
}

std::uint64_t World::flight_ns() const {
  const NetOptions& net = options_.net;
  const std::uint64_t slow = net.slow_one_in == 0 ? 1 : 100;
  return slow * (net.delay_ns + net.jitter_ns);
}

void World::record_minorities() {
  for (std::size_t i = 0; i < gone_.size(); ++i) record_minorities(*gone_[i], gone_ns_[i]);
  for (const Node& node : nodes_) {
    if (node.member) record_minorities(*node.member, Troubles::kOpen);
  }
}

void World::record_minorities(Member& member, std::uint64_t gone_ns) {
  const std::vector<Entered>& entries = member.entries();
  // Before its history begins, a fault counts as one of the incarnation that was there before.
  const std::vector<history::Event>& events = member.recorder().events();
  if (events.empty()) return;
  const std::uint64_t told_ns = events.front().time_ns;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    // Once it knows how a view ends, it is delivered the rest, and goes on or leaves.
    const std::uint64_t next_ns = entries[i].decided_ns;
    const std::uint64_t to_ns = std::min({next_ns, gone_ns, options_.fault_ns});
    const std::uint64_t from_ns = std::max(entries[i].at_ns, told_ns);
    if (from_ns < to_ns) {
      const std::uint64_t ends_ns = member.stopped() ? options_.fault_ns : to_ns;
      record_minorities(member, entries[i].view, {from_ns, to_ns}, std::min(next_ns, ends_ns));
    }
  }
}

// While it is paused it counts nothing: its time begins anew then.
void World::record_minorities(const Member& member, const View& view, Span begins_in,
                              std::uint64_t to_ns) {
  const Spans pauses = joined(troubles_.pauses(member.number()));
  std::vector<std::uint64_t> begins{begins_in.begin_ns};
  for (const Span& pause : pauses) begins.push_back(pause.end_ns);
  std::vector<Spans> others;
  for (const ViewMember& other : view.members) {
    if (other == member.self()) continue;
    others.push_back(silences(other, member));
    for (const Span& span : others.back()) begins.push_back(span.begin_ns);
  }
  std::ranges::sort(begins);
  const std::size_t needed = view.members.size() - view.members.size() / 2;
  std::uint64_t last_ns = 0;
  for (const std::uint64_t begin_ns : begins) {
    const bool paused = silent_until(pauses, begin_ns) != begin_ns;
    if (begin_ns < std::max(begins_in.begin_ns, last_ns) || begin_ns >= begins_in.end_ns || paused)
      continue;
    std::vector<std::uint64_t> ends;
    for (const Spans& spans : others) ends.push_back(silent_until(spans, begin_ns));
    std::ranges::sort(ends, std::ranges::greater{});
    if (needed > ends.size()) continue;
    std::uint64_t end_ns = std::min(ends[needed - 1], to_ns);
    for (const Span& pause : pauses) {
      if (pause.begin_ns > begin_ns) end_ns = std::min(end_ns, pause.begin_ns);
    }
    if (end_ns < begin_ns + stop_bound_ns()) continue;
    last_ns = end_ns;
    const auto node = static_cast<std::uint16_t>(member.number());
    for (const auto& [kind, at_ns] : {std::pair(history::EventKind::fault_begin, begin_ns),
                                      std::pair(history::EventKind::fault_end, end_ns)}) {
      record(
          history::make_fault(kind, {.time_ns = at_ns}, history::FaultKind::minority, node, node));
    }
  }
}

Troubles::Spans World::silences(const ViewMember& of, const Member& listener) const {
  std::uint64_t gone_ns = Troubles::kOpen;
  for (std::size_t i = 0; i < gone_.size(); ++i) {
    if (gone_[i]->self() == of) gone_ns = gone_ns_[i];
  }
  return joined(troubles_.silences(of.slot.value, listener.number(), gone_ns, flight_ns()));
}

}  // namespace tutti::sim
