#include "history/checker/timing.hpp"

#include <algorithm>

namespace tutti::history {
namespace {

std::string milliseconds(std::uint64_t ns) {
  return std::to_string(ns / 1'000'000) + "." + std::to_string(ns / 100'000 % 10) + " ms";
}

}  // namespace

Timing::Timing(Run& run) : run_(run), silences_(run.lives.size()), doorbells_(run.lives.size()) {
  read_harness();
  if (run_.options.stop_bound_ns > 0) find_silences();
  if (run_.options.wake_bound_ns > 0) find_lost_doorbells();
}

void Timing::read_harness() {
  const auto end_good = [this](std::uint64_t at_ns) {
    if (!good_.empty() && good_.back().end_ns == kNever) good_.back().end_ns = at_ns;
  };
  for (const EventRef ref : run_.harness) {
    const Event& event = run_.event(ref);
    const auto kind = static_cast<FaultKind>(event.detail);
    if (event.kind == EventKind::heal) {
      end_good(event.time_ns);
      for (Fault& fault : faults_) {
        if (fault.kind != FaultKind::lost) fault.end_ns = std::min(fault.end_ns, event.time_ns);
      }
      good_.push_back({.begin_ns = event.time_ns, .heal = ref});
    } else if (event.kind == EventKind::heal_core && !good_.empty()) {
      good_.back().core.push_back({event.peer, event.number});
    } else if (event.kind == EventKind::fault_begin) {
      const bool moment = kind == FaultKind::doorbell_lost;
      // A connection ends when its member does: that says nothing about the core.
      if (!moment && kind != FaultKind::lost) end_good(event.time_ns);
      (moment ? lost_doorbells_ : faults_)
          .push_back({.kind = kind,
                      .node = event.peer,
                      .second = static_cast<std::uint16_t>(event.extra),
                      .begin_ns = event.time_ns,
                      .end_ns = moment ? event.time_ns : kNever,
                      .begin = ref});
    } else if (event.kind == EventKind::fault_end) {
      const auto same = std::ranges::find_if(faults_, [&](const Fault& fault) {
        return fault.end_ns == kNever && fault.kind == kind && fault.node == event.peer &&
               fault.second == event.extra;
      });
      if (same != faults_.end()) same->end_ns = event.time_ns;
    }
  }
}

std::optional<std::uint32_t> Timing::life_at(std::uint16_t node, std::uint64_t at_ns) const {
  std::optional<std::uint32_t> found;
  std::uint64_t began_ns = 0;
  for (std::uint32_t life = 0; life < run_.lives.size(); ++life) {
    const Life& candidate = run_.lives[life];
    if (candidate.who.node != node || candidate.history->events.empty()) continue;
    const std::uint64_t begin_ns = candidate.history->events.front().time_ns;
    if (begin_ns <= at_ns && (!found || begin_ns >= began_ns)) {
      found = life;
      began_ns = begin_ns;
    }
  }
  return found;
}

void Timing::find_silences() {
  for (const Fault& fault : faults_) {
    if (fault.kind != FaultKind::minority) continue;
    const std::uint64_t from_ns = plus(fault.begin_ns, run_.options.stop_bound_ns);
    const auto life = life_at(fault.node, fault.begin_ns);
    if (!life || from_ns >= fault.end_ns || from_ns > run_.end_ns) continue;
    silences_[*life].push_back({from_ns, fault.end_ns, fault.begin});
    const Life& member = run_.lives[*life];
    const std::uint64_t ended = std::min(member.stopped, member.evicted);
    const bool in_time = ended != kNever && run_.event({*life, ended}).time_ns <= from_ns;
    if (!in_time && !member.crashed) {
      run_.findings.add(Property::V3,
                        run_.name(*life) + " lost the majority and did not stop within " +
                            milliseconds(run_.options.stop_bound_ns),
                        {fault.begin});
    }
  }
}

void Timing::act(EventRef ref, const Event& event) const {
  for (const Silence& silence : silences_[ref.life]) {
    if (event.time_ns > silence.from_ns && event.time_ns < silence.to_ns) {
      run_.findings.add(Property::V3,
                        run_.name(ref.life) + " goes on without a majority for more than " +
                            milliseconds(run_.options.stop_bound_ns),
                        {ref, silence.fault});
    }
  }
}

bool Timing::troubled(std::uint64_t from_ns, std::uint64_t to_ns, const Fault* but) const {
  return std::ranges::any_of(faults_, [&](const Fault& fault) {
    const bool follows = but != nullptr && fault.kind == FaultKind::lost &&
                         fault.begin_ns >= but->begin_ns &&
                         (fault.node == but->node || fault.second == but->node);
    const bool is_listed = fault.kind == FaultKind::minority && fault.second != kNoNode;
    return &fault != but && !follows && !is_listed && fault.begin_ns <= to_ns &&
           fault.end_ns >= from_ns;
  });
}

std::uint64_t Timing::awake_ns(std::uint16_t node, std::uint64_t from_ns,
                               std::uint64_t to_ns) const {
  if (to_ns <= from_ns) return 0;
  std::uint64_t awake = to_ns - from_ns;
  for (const Fault& fault : faults_) {
    if (fault.kind != FaultKind::pause || fault.node != node) continue;
    const std::uint64_t begin_ns = std::max(from_ns, fault.begin_ns);
    const std::uint64_t end_ns = std::min(to_ns, fault.end_ns);
    if (begin_ns < end_ns) awake -= std::min(awake, end_ns - begin_ns);
  }
  return awake;
}

void Timing::find_lost_doorbells() {
  for (const Fault& fault : lost_doorbells_) {
    const auto life = life_at(fault.node, fault.begin_ns);
    const std::uint64_t to_ns = plus(fault.begin_ns, run_.options.wake_bound_ns);
    if (life && !troubled(fault.begin_ns, to_ns, nullptr)) doorbells_[*life].push_back(&fault);
  }
}

bool Timing::in_core(const GoodTime& good, std::uint32_t life) const {
  const NodeRef who = run_.lives[life].who;
  return std::ranges::any_of(good.core, [&](NodeRef core) {
    if (core.node != who.node) return false;
    return core.incarnation == 0 ? life_at(who.node, kNever) == life
                                 : core.incarnation == who.incarnation;
  });
}

std::uint64_t Timing::due(std::uint64_t sent_ns, const GoodTime*& good) const {
  const auto found = std::ranges::upper_bound(good_, sent_ns, {}, &GoodTime::end_ns);
  if (run_.options.deliver_bound_ns == 0 || found == good_.end()) return kNever;
  good = &*found;
  const std::uint64_t due_ns =
      plus(std::max(sent_ns, found->begin_ns), run_.options.deliver_bound_ns);
  return due_ns < found->end_ns ? due_ns : kNever;
}

void Timing::deliver(EventRef ref, const Event& event, const Sent& sent,
                     const std::uint32_t* sender) const {
  if (sent.time == 0) return;
  const std::uint64_t sent_ns = run_.time_of(sent);
  const GoodTime* good = nullptr;
  if (!good_.empty() && event.time_ns > due(sent_ns, good) && in_core(*good, ref.life) &&
      in_core(*good, *sender)) {
    run_.findings.add(Property::V1,
                      run_.name(ref.life) + " delivers a message later than " +
                          milliseconds(run_.options.deliver_bound_ns) +
                          " after it was sent or faults ended",
                      {ref, good->heal});
  }
  const std::vector<const Fault*>& lost = doorbells_[ref.life];
  const auto first =
      std::ranges::lower_bound(lost, sent_ns, {}, [](auto* f) { return f->begin_ns; });
  if (first != lost.end() && event.time_ns > plus((*first)->begin_ns, run_.options.wake_bound_ns)) {
    run_.findings.add(Property::V5,
                      run_.name(ref.life) + " delivers a message more than " +
                          milliseconds(run_.options.wake_bound_ns) + " after its doorbell was lost",
                      {ref, (*first)->begin});
  }
}

void Timing::undelivered(std::uint32_t life, EventRef last, const Sent& sent) const {
  if (sent.time == 0) return;
  const std::vector<const Fault*>& lost = doorbells_[life];
  const auto first =
      std::ranges::lower_bound(lost, run_.time_of(sent), {}, [](auto* f) { return f->begin_ns; });
  if (first == lost.end()) return;
  const std::uint64_t until_ns = plus((*first)->begin_ns, run_.options.wake_bound_ns);
  if (until_ns >= run_.end_ns || troubled((*first)->begin_ns, kNever, nullptr)) return;
  run_.findings.add(Property::V5,
                    run_.name(life) + " never delivers a message whose doorbell was lost",
                    {last, (*first)->begin});
}

}  // namespace tutti::history
