#include "sim/troubles.hpp"

#include <algorithm>

#include "history/make_event.hpp"

namespace tutti::sim {

Troubles::Troubles(std::uint32_t nodes, std::uint64_t least_ns, std::uint32_t hosts)
    : nodes_(nodes),
      least_ns_(least_ns),
      hosts_(hosts),
      paused_(nodes),
      held_(std::size_t{nodes} * nodes),
      late_(held_.size()),
      lost_(held_.size()),
      stopped_(nodes),
      cut_(held_.size()) {}

// The last one goes if it was short and this one is not near it.
void Troubles::add(Spans& spans, std::uint64_t until_ns) const {
  if (!spans.empty()) {
    Span& last = spans.back();
    if (last.end_ns == kOpen || now_ns_ - std::min(now_ns_, last.end_ns) < least_ns_) {
      last.end_ns = std::max(last.end_ns, until_ns);
      return;
    }
    if (last.end_ns - last.begin_ns < least_ns_) spans.pop_back();
  }
  spans.push_back({now_ns_, until_ns});
}

void Troubles::close(Spans& spans) const {
  if (!spans.empty()) spans.back().end_ns = std::min(spans.back().end_ns, now_ns_);
}

void Troubles::paused(std::uint32_t node, std::uint64_t until_ns) {
  add(paused_[node], until_ns);
  stopped_[node].push_back({now_ns_, until_ns});
}

void Troubles::resumed(std::uint32_t node) {
  close(paused_[node]);
  close(stopped_[node]);
}

void Troubles::hold(std::uint32_t from, std::uint32_t to, bool held) {
  if (from % hosts_ == to % hosts_) return;
  Spans& spans = held_[way(from, to)];
  Spans& exact = cut_[way(from, to)];
  if (held) {
    add(spans, kOpen);
    if (exact.empty() || exact.back().end_ns != kOpen) exact.push_back({now_ns_, kOpen});
  } else {
    close(spans);
    close(exact);
  }
}

void Troubles::late(std::uint32_t from, std::uint32_t to, std::uint64_t until_ns) {
  add(late_[way(from, to)], until_ns);
}

void Troubles::lost(std::uint32_t by, std::uint32_t node) {
  Spans& spans = lost_[way(node, by)];
  if (spans.empty() || spans.back().end_ns != kOpen) spans.push_back({now_ns_, kOpen});
}

void Troubles::met(std::uint32_t by, std::uint32_t node) { close(lost_[way(node, by)]); }

Troubles::Spans Troubles::silences(std::uint32_t of, std::uint32_t listener, std::uint64_t gone_ns,
                                   std::uint64_t flight_ns) const {
  const Spans& cuts = cut_[way(of, listener)];
  Spans all = stopped_[of];
  if (gone_ns != kOpen) all.push_back({gone_ns, kOpen});
  const Spans& lost = lost_[way(of, listener)];
  all.insert(all.end(), lost.begin(), lost.end());
  // What it posted before it stopped, or the connection ended, is heard once its way there is
  // mended. A cut holds what is on its way. In order of time: what one cut lets go, the next may
  // hold.
  for (Span& stop : all) {
    for (const Span& cut : cuts) {
      const bool held = cut.begin_ns < stop.begin_ns + flight_ns && stop.begin_ns < cut.end_ns;
      if (held && cut.end_ns < stop.end_ns) stop.begin_ns = cut.end_ns + 1;
    }
  }
  all.insert(all.end(), cuts.begin(), cuts.end());
  return all;
}

void Troubles::record(history::Recorder& recorder) const {
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    record(recorder, paused_[node], history::FaultKind::pause, node, history::kNoNode);
    for (std::uint32_t to = 0; to < nodes_; ++to) {
      record(recorder, held_[way(node, to)], history::FaultKind::link, node, to);
      record(recorder, late_[way(node, to)], history::FaultKind::slow, node, to);
      record(recorder, lost_[way(node, to)], history::FaultKind::lost, node, to);
    }
  }
}

void Troubles::record(history::Recorder& recorder, const Spans& spans, history::FaultKind kind,
                      std::uint32_t node, std::uint32_t second) const {
  for (const Span& span : spans) {
    const auto note = [&](history::EventKind what, std::uint64_t at_ns) {
      recorder.append(history::make_fault(what, {.time_ns = at_ns}, kind,
                                          static_cast<std::uint16_t>(node),
                                          static_cast<std::uint16_t>(second)));
    };
    note(history::EventKind::fault_begin, span.begin_ns);
    if (span.end_ns != kOpen) note(history::EventKind::fault_end, span.end_ns);
  }
}

}  // namespace tutti::sim
