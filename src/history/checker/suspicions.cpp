// Nobody is suspected without a reason (M6). A member that stops as in a minority was in one (M10).
//
// What is promised: the first member to suspect another one in a view has lost the connection to
// it, or has not heard it for suspect_after_ns; the others may adopt that suspicion. A member stops
// as in a minority when it suspects half of its view (J6), or when for suspect_after_ns half of its
// view was suspected by it or suspected it (J9). It is evicted only if somebody suspects it.
// What is not promised: that a suspected member has failed. A member that was silent for so long is
// removed even if it runs, and many members may suspect one that is hard to hear, and each other.
#include <algorithm>
#include <map>
#include <set>

#include "history/checker/families.hpp"
#include "history/text.hpp"

namespace tutti::history {
namespace {

/// A time in which a member could not be heard.
struct Span {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
};

class Suspicions {
 public:
  Suspicions(Run& run, const Timing& timing)
      : run_(run), timing_(timing), silence_ns_(run.options.suspect_after_ns / 2) {
    for (const EventRef ref : run_.suspects) {
      const Event& event = run_.event(ref);
      by_whom_[{event.view, {event.peer, event.number}}].push_back(ref);
    }
    for (auto& [key, refs] : by_whom_) {
      std::ranges::stable_sort(refs, {}, [&](EventRef ref) { return run_.event(ref).time_ns; });
    }
  }

  void check() {
    for (const auto& [key, refs] : by_whom_) check_first(key.first, key.second, refs);
    for (std::uint32_t life = 0; life < run_.lives.size(); ++life) {
      if (run_.lives[life].gaps()) continue;
      if (run_.lives[life].evicted != kNever) check_evicted(life);
      if (run_.lives[life].stopped != kNever) check_minority(life);
    }
  }

 private:
  using Whom = std::pair<std::uint64_t, NodeRef>;  // view, suspected member

  /// Of the members that were the first to suspect it, at one time, one had a reason of its own.
  void check_first(std::uint64_t view, NodeRef whom, const std::vector<EventRef>& refs) {
    const std::uint64_t first_ns = run_.event(refs.front()).time_ns;
    for (const EventRef ref : refs) {
      if (run_.event(ref).time_ns != first_ns) break;
      if (run_.lives[ref.life].gaps() || has_reason(ref.life, view, whom, first_ns)) return;
    }
    run_.findings.add(Property::M6,
                      run_.name(refs.front().life) + " is the first in view " +
                          std::to_string(view) + " to suspect " + to_string(whom) +
                          ", which it could hear",
                      {refs.front()});
  }

  [[nodiscard]] bool has_reason(std::uint32_t by, std::uint64_t view, NodeRef whom,
                                std::uint64_t at_ns) const {
    const std::uint32_t* life = run_.life_of(whom);
    if (life == nullptr || run_.lives[*life].gaps()) return true;
    if (view > 0 && suspects(by, view - 1, whom, at_ns)) return true;  // as before
    return is_gone(*life, at_ns) || has_gone_on(*life, view, by, at_ns) ||
           is_lost(by, whom.node, lost_since(by, view, at_ns), at_ns) ||
           is_silent(by, *life, at_ns);
  }

  /// A member that enters its first view suspects members that it lost after that view was chosen,
  /// even if they are connected again by now.
  [[nodiscard]] std::uint64_t lost_since(std::uint32_t by, std::uint64_t view,
                                         std::uint64_t at_ns) const {
    const std::vector<Installation>& installs = run_.lives[by].installs;
    const bool enters = !installs.empty() && installs.front().view == view &&
                        at_ns <= plus(installs.front().time_ns, silence_ns_ / 4);
    return at_ns - (enters ? std::min(at_ns, run_.options.suspect_after_ns) : 0);
  }

  [[nodiscard]] bool is_gone(std::uint32_t life, std::uint64_t at_ns) const {
    const Life& member = run_.lives[life];
    if (member.stopped != kNever && run_.event({life, member.stopped}).time_ns <= at_ns) {
      return true;
    }
    return member.crashed && std::ranges::any_of(timing_.faults(), [&](const Fault& fault) {
             return fault.kind == FaultKind::crash && fault.node == member.who.node &&
                    fault.begin_ns <= at_ns && fault.begin_ns >= member.end_ns;
           });
  }

  /// Whether it knows how the view ends, and that the other is not in the next one: then it tells
  /// the other nothing more.
  [[nodiscard]] bool has_gone_on(std::uint32_t life, std::uint64_t view, std::uint32_t from,
                                 std::uint64_t at_ns) const {
    return std::ranges::any_of(run_.decides, [&](EventRef ref) {
      const Event& decide = run_.event(ref);
      if (ref.life != life || decide.view < view || decide.time_ns > at_ns) return false;
      const auto next = run_.views.find(decide.view + 1);
      if (next == run_.views.end() || next->second.variants.empty()) return true;
      return next->second.variants.front().content.member(run_.lives[from].who) == nullptr;
    });
  }

  [[nodiscard]] bool is_lost(std::uint32_t by, std::uint16_t node, std::uint64_t since_ns,
                             std::uint64_t at_ns) const {
    return std::ranges::any_of(timing_.faults(), [&](const Fault& fault) {
      return fault.kind == FaultKind::lost && fault.node == node &&
             fault.second == run_.lives[by].who.node && fault.begin_ns <= at_ns &&
             fault.end_ns > since_ns;
    });
  }

  /// Whether it was paused, or its writes arrived late, for most of suspect_after_ns.
  [[nodiscard]] bool is_silent(std::uint32_t by, std::uint32_t life, std::uint64_t at_ns) const {
    const std::uint16_t listener = run_.lives[by].who.node;
    std::vector<Span> silent;
    std::vector<Span> deaf;  // its own pauses, which do not count against others
    for (const Fault& fault : timing_.faults()) {
      if (fault.begin_ns > at_ns) continue;
      const Span span{fault.begin_ns, std::min(fault.end_ns, at_ns)};
      if (fault.kind == FaultKind::pause && fault.node == listener) deaf.push_back(span);
      if (silences(fault, run_.lives[life].who.node, listener)) silent.push_back(span);
    }
    std::ranges::sort(silent, {}, &Span::begin_ns);
    Span all{0, 0};  // the last silence; short times in between count as silence
    for (const Span& span : silent) {
      if (span.begin_ns > plus(all.end_ns, silence_ns_)) all = span;
      all.end_ns = std::max(all.end_ns, span.end_ns);
    }
    if (silent.empty() || plus(all.end_ns, silence_ns_) < at_ns) return false;
    std::uint64_t length_ns = all.end_ns - all.begin_ns;
    for (const Span& pause : deaf) {
      const std::uint64_t from_ns = std::max(pause.begin_ns, all.begin_ns);
      const std::uint64_t to_ns = std::min(pause.end_ns, all.end_ns);
      if (from_ns >= to_ns) continue;
      // The listener may have looked just before and just after its pause.
      const std::uint64_t counted_ns = std::min(to_ns - from_ns, run_.options.suspect_after_ns / 8);
      length_ns -= std::min(length_ns, to_ns - from_ns - counted_ns);
    }
    return length_ns >= silence_ns_;
  }

  [[nodiscard]] static bool silences(const Fault& fault, std::uint16_t node, std::uint16_t from) {
    switch (fault.kind) {
      case FaultKind::pause:
        return fault.node == node;
      case FaultKind::link:
      case FaultKind::slow:
        return fault.node == node && (fault.second == from || fault.second == kNoNode);
      case FaultKind::minority:
        if (fault.second != kNoNode) return false;  // what cut it off is recorded as well
        [[fallthrough]];
      case FaultKind::partition:
        return fault.node == node || fault.node == from;
      default:
        return false;
    }
  }

  /// Whether it has recorded by then, in that view, that it suspects the other.
  [[nodiscard]] bool suspects(std::uint32_t by, std::uint64_t view, NodeRef whom,
                              std::uint64_t until_ns) const {
    const auto found = by_whom_.find({view, whom});
    return found != by_whom_.end() && std::ranges::any_of(found->second, [&](EventRef ref) {
             return ref.life == by && run_.event(ref).time_ns <= until_ns;
           });
  }

  /// Whether it suspects half of its view or more. With `in_return`, members that suspect it count
  /// as well.
  [[nodiscard]] bool is_alone(std::uint32_t life, std::uint64_t view, const ViewContent& content,
                              std::uint64_t at_ns, bool in_return) const {
    std::size_t together = 0;
    for (const ViewMember& member : content.members) {
      const std::uint32_t* other = run_.life_of(member.who);
      const bool trusts = !suspects(life, view, member.who, at_ns);
      const bool trusted =
          !in_return || other == nullptr || !suspects(*other, view, run_.lives[life].who, at_ns);
      together += trusts && trusted ? 1 : 0;
    }
    return 2 * together <= content.members.size();
  }

  void check_minority(std::uint32_t life) {
    const EventRef ref{life, run_.lives[life].stopped};
    const Event& stopped = run_.event(ref);
    const auto view = run_.views.find(stopped.view);
    if (stopped.detail != static_cast<std::uint8_t>(StopReason::minority) || stopped.view == 0 ||
        run_.lives[life].evicted != kNever || view == run_.views.end() ||
        view->second.variants.empty()) {
      return;
    }
    const ViewContent& content = view->second.variants.front().content;
    if (content.member(run_.lives[life].who) == nullptr) return;
    const std::uint64_t patience_ns = run_.options.suspect_after_ns;
    const std::uint64_t since_ns = stopped.time_ns - std::min(stopped.time_ns, patience_ns);
    if (is_alone(life, stopped.view, content, stopped.time_ns, false)) return;
    if (is_alone(life, stopped.view, content, since_ns, true)) return;
    run_.findings.add(Property::M10,
                      run_.name(life) + " stops as in a minority in view " +
                          std::to_string(stopped.view) +
                          ", though a majority of that view and it trust each other",
                      {ref});
  }

  void check_evicted(std::uint32_t life) {
    const EventRef ref{life, run_.lives[life].evicted};
    const Event& evicted = run_.event(ref);
    const NodeRef who = run_.lives[life].who;
    const auto suspected = std::ranges::any_of(by_whom_, [&](const auto& entry) {
      return entry.first.second == who && entry.first.first >= evicted.view &&
             run_.event(entry.second.front()).time_ns <= evicted.time_ns;
    });
    if (suspected) return;
    run_.findings.add(Property::M6,
                      run_.name(life) + " says that it was evicted though nobody suspects it",
                      {ref});
  }

  Run& run_;
  const Timing& timing_;
  const std::uint64_t silence_ns_;  // a longer silence, with usual delays, is a reason to suspect
  std::map<Whom, std::vector<EventRef>> by_whom_;  // in the order of their times
};

}  // namespace

void check_suspicions(Run& run, const Timing& timing) {
  if (run.options.suspect_after_ns == 0) {
    return run.findings.skip("M6, M10: whether suspicions had reasons: no suspect_after given");
  }
  if (!run.options.complete) {
    return run.findings.skip("M6, M10: whether suspicions had reasons: not complete");
  }
  Suspicions(run, timing).check();
}

}  // namespace tutti::history
