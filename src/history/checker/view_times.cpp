// Soon after faults end the core is in one view. A short pause changes no view, a long one exactly
// one (M10 V6).
#include <algorithm>
#include <set>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

constexpr std::uint64_t kQuietBounds = 10;  // so many times the bound no further view follows

class ViewTimes {
 public:
  ViewTimes(Run& run, const Timing& timing) : run_(run), timing_(timing) {}

  void check_healed() {
    for (const GoodTime& good : timing_.good_times()) {
      const std::uint64_t by_ns = plus(good.begin_ns, run_.options.view_bound_ns);
      if (by_ns >= std::min(good.end_ns, run_.end_ns)) continue;  // too short to say
      for (std::uint32_t life = 0; life < run_.lives.size(); ++life) {
        if (timing_.in_core(good, life)) check_core(good, by_ns, life);
      }
    }
  }

  void check_pauses() {
    const std::uint64_t given_ns = run_.options.pause_view_ns;
    const std::uint64_t bound_ns = given_ns != 0 ? given_ns : run_.options.view_bound_ns;
    for (const Fault& fault : timing_.faults()) {
      if (fault.kind != FaultKind::pause || fault.end_ns == kNever) continue;
      const std::uint64_t until_ns = plus(fault.end_ns, bound_ns);
      const std::uint64_t from_ns = fault.begin_ns - std::min(fault.begin_ns, bound_ns);
      if (timing_.troubled(from_ns, until_ns, &fault)) continue;  // other faults interfere
      check_pause(fault, until_ns);
    }
  }

 private:
  void check_core(const GoodTime& good, std::uint64_t by_ns, std::uint32_t life) {
    const Life& member = run_.lives[life];
    if (member.stopped != kNever || member.leave != kNever) return;  // it stopped or left
    const Installation* at = nullptr;
    const std::uint64_t quiet_ns =
        std::min(good.end_ns, plus(by_ns, run_.options.view_bound_ns * kQuietBounds));
    for (const Installation& install : member.installs) {
      if (install.time_ns <= by_ns) {
        at = &install;
      } else if (install.time_ns < quiet_ns && !asked_for(install)) {
        run_.findings.add(Property::M10,
                          run_.name(life) +
                              " installs one more view long after"
                              " faults ended",
                          {good.heal, EventRef{life, install.index}});
        return;
      }
    }
    if (at == nullptr) {
      run_.findings.add(Property::M10, run_.name(life) + " has no view though faults ended",
                        {good.heal});
    } else if (at->whole && !is_core(run_.content(*at), good)) {
      run_.findings.add(Property::M10,
                        run_.name(life) +
                            " is not in a view of exactly the connected"
                            " core in time",
                        {good.heal, EventRef{life, at->index}});
    }
  }

  /// Whether a member joins or leaves, and none is removed.
  [[nodiscard]] bool asked_for(const Installation& install) const {
    if (!install.whole) return true;
    const ViewContent& content = run_.content(install);
    const bool joins = std::ranges::any_of(content.members, [](const ViewMember& member) {
      return (member.flags & kMemberJoined) != 0;
    });
    const bool removes = std::ranges::any_of(
        content.lefts, [](const ViewLeft& left) { return left.reason != LeftReason::leave; });
    return !removes && (joins || !content.lefts.empty());
  }

  /// Whether the view is exactly the core, except for members that joined or left since.
  [[nodiscard]] bool is_core(const ViewContent& content, const GoodTime& good) const {
    const auto same = [](NodeRef core, NodeRef member) {
      return member.node == core.node &&
             (core.incarnation == 0 || member.incarnation == core.incarnation);
    };
    const bool none_more = std::ranges::all_of(content.members, [&](const ViewMember& member) {
      return joined_since(member.who, good.begin_ns) ||
             std::ranges::any_of(good.core, [&](NodeRef core) { return same(core, member.who); });
    });
    return none_more && std::ranges::all_of(good.core, [&](NodeRef core) {
             return has_left(core) ||
                    std::ranges::any_of(content.members, [&](const ViewMember& member) {
                      return same(core, member.who);
                    });
           });
  }

  [[nodiscard]] bool joined_since(NodeRef who, std::uint64_t since_ns) const {
    const std::uint32_t* life = run_.life_of(who);
    return life != nullptr && !run_.lives[*life].history->events.empty() &&
           run_.lives[*life].history->events.front().time_ns >= since_ns;
  }
  [[nodiscard]] bool has_left(NodeRef core) const {
    return std::ranges::any_of(run_.lives, [&](const Life& life) {
      return life.who.node == core.node && life.leave != kNever &&
             (core.incarnation == 0 || core.incarnation == life.who.incarnation);
    });
  }

  void check_pause(const Fault& fault, std::uint64_t until_ns) {
    const std::uint64_t length_ns = fault.end_ns - fault.begin_ns;
    const bool harmless = length_ns < run_.options.pause_harmless_ns;
    const bool fatal = run_.options.pause_fatal_ns > 0 && length_ns > run_.options.pause_fatal_ns;
    const auto paused = timing_.life_at(fault.node, fault.begin_ns);
    if ((!harmless && !fatal) || !paused) return;
    if (!harmless && !is_missed(fault, *paused)) return;
    std::set<std::uint64_t> removed;  // views that remove it
    std::set<std::uint64_t> others;   // views that remove another member
    EventRef last = fault.begin;
    for (const auto& [id, view] : run_.views) {
      for (const View::Variant& variant : view.variants) {
        const std::uint64_t at_ns = run_.event(variant.install).time_ns;
        if (at_ns <= fault.begin_ns || at_ns > until_ns) continue;
        for (const ViewLeft& left : variant.content.lefts) {
          if (left.reason == LeftReason::leave) continue;
          (left.who == run_.lives[*paused].who ? removed : others).insert(id);
          last = variant.install;
        }
      }
    }
    if (harmless && !(removed.empty() && others.empty())) {
      run_.findings.add(Property::V6, "a pause shorter than the suspicion bound changes the view",
                        {fault.begin, last});
    } else if (fatal && until_ns < run_.end_ns && (removed.size() != 1 || !others.empty())) {
      run_.findings.add(Property::V6,
                        "a pause longer than the suspicion bound changes the view " +
                            std::to_string(removed.size() + others.size()) + " times, not once",
                        {fault.begin, last});
    }
    if (harmless) check_suspicions(fault, until_ns, run_.lives[*paused].who);
  }

  /// Whether it was in a view of which the others are a majority, and still ran after the pause.
  [[nodiscard]] bool is_missed(const Fault& fault, std::uint32_t paused) const {
    const Life& life = run_.lives[paused];
    const auto later = std::ranges::find_if(life.installs, [&](const Installation& install) {
      return install.time_ns > fault.begin_ns;
    });
    if (later == life.installs.begin() || life.end_ns < fault.end_ns) return false;
    const Installation& in = *(later - 1);
    const bool stopped =
        life.stopped != kNever && run_.event({paused, life.stopped}).time_ns <= fault.begin_ns;
    return !stopped && in.whole && run_.content(in).members.size() > 2;
  }

  void check_suspicions(const Fault& fault, std::uint64_t until_ns, NodeRef paused) {
    for (const EventRef ref : run_.suspects) {
      const Event& event = run_.event(ref);
      if (event.time_ns <= fault.begin_ns || event.time_ns > until_ns) continue;
      if (NodeRef{event.peer, event.number} != paused) continue;
      run_.findings.add(Property::V6,
                        run_.name(ref.life) +
                            " suspects a member whose pause was"
                            " shorter than the suspicion bound",
                        {fault.begin, ref});
    }
  }

  Run& run_;
  const Timing& timing_;
};

}  // namespace

void check_view_times(Run& run, const Timing& timing) {
  ViewTimes times(run, timing);
  if (run.options.view_bound_ns == 0) {
    run.findings.skip("M10: no bound for views given");
  } else {
    times.check_healed();
  }
  if (run.options.pause_harmless_ns == 0 && run.options.pause_fatal_ns == 0) {
    run.findings.skip("V6: no bounds for pauses given");
  } else {
    times.check_pauses();
  }
}

}  // namespace tutti::history
