// Members that go on from a view together delivered the same messages in it. They also delivered
// every message that any member delivered as safe in it, with what comes before: at atomic that is
// all that any member delivered (D4 D5 D11 F2). A member's first delivery follows what came before
// it (D7).
#include <algorithm>
#include <limits>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

class InView {
 public:
  InView(Run& run, const Timing& timing, const Group& group, std::uint64_t view,
         std::span<const Tally> tallies)
      : run_(run), timing_(timing), group_(group), view_(view), tallies_(tallies) {
    for (const std::uint32_t life : run_.survivors(view)) {
      if (run_.lives[life].gaps() || !run_.is_in(life, group, view)) continue;
      // A member that leaves a group delivers a part of the view.
      if (!run_.stays_in(life, group, view)) continue;
      survivors_.push_back(life);
    }
    const auto cut = run_.cuts.find({view, group.id});
    if (cut != run_.cuts.end()) cut_ = cut->second.front();
    longest_ = &*std::ranges::max_element(tallies_, {}, &Tally::safe_end);
  }

  void check() {
    check_cut();
    if (survivors_.empty()) return;
    check_survivors();
    check_uniform();
    check_zombies();
  }

 private:
  [[nodiscard]] const Tally* tally(std::uint32_t life) const {
    const auto found = std::ranges::lower_bound(tallies_, life, {}, &Tally::life);
    return found != tallies_.end() && found->life == life ? &*found : nullptr;
  }
  [[nodiscard]] std::uint64_t count(std::uint32_t life) const {
    const Tally* found = tally(life);
    return found != nullptr ? found->count : 0;
  }
  /// Whether it asked to leave in this view, and its application was told that it left.
  [[nodiscard]] bool left_in_order(std::uint32_t life) const {
    const Life& member = run_.lives[life];
    return member.stopped != kNever && member.installs.back().view == view_ &&
           static_cast<StopReason>(run_.event({life, member.stopped}).detail) == StopReason::left;
  }
  static EventRef last(const Tally& tally) { return {tally.life, tally.last_index}; }
  [[nodiscard]] std::string where() const {
    return "view " + std::to_string(view_) + ", group " + std::to_string(group_.id);
  }
  [[nodiscard]] EventRef next_install(std::uint32_t life) const {
    const Installation* install = run_.installation(life, view_ + 1);
    return {life, install != nullptr ? install->index : 0};
  }

  void check_cut() {
    if (!cut_) return;
    const std::uint64_t position = run_.event(*cut_).position;
    for (const Tally& tally : tallies_) {
      const bool goes_on = std::ranges::binary_search(survivors_, tally.life);
      // Others may have more that is not safe: ahead.cpp.
      const bool beyond = (goes_on ? tally.end : tally.safe_end) > position;
      const bool all = goes_on || left_in_order(tally.life);
      if (beyond || (all && tally.end < position)) {
        run_.findings.add(Property::D11,
                          run_.name(tally.life) +
                              (beyond ? " delivers beyond" : " stops delivering before") +
                              " the cut of " + where(),
                          {last(tally), *cut_});
      }
    }
  }

  void check_survivors() {
    const auto most =
        *std::ranges::max_element(survivors_, {}, [&](auto life) { return count(life); });
    const Tally* reference = tally(most);
    if (reference == nullptr) return;  // no survivor delivered anything
    for (const std::uint32_t life : survivors_) {
      const Tally* own = tally(life);
      if (own != nullptr && own->count == reference->count && own->end == reference->end) continue;
      run_.findings.add(Property::D4,
                        run_.name(life) + " delivered " + std::to_string(count(life)) +
                            " messages in " + where() + ", " + run_.name(most) + " " +
                            std::to_string(reference->count) + ", and both went on",
                        {last(*reference), next_install(life)});
    }
  }

  void check_uniform() {
    for (const std::uint32_t life : survivors_) {
      const Tally* own = tally(life);
      if ((own != nullptr ? own->end : 0) >= longest_->safe_end) continue;
      run_.findings.add(Property::D5,
                        run_.name(life) + " went on without messages that " +
                            run_.name(longest_->life) + " delivered in " + where(),
                        {last(*longest_), next_install(life)});
    }
  }

  /// A removed member delivers no more than what was agreed, and not for long.
  void check_zombies() {
    const ViewContent* next = run_.content_at(survivors_.front(), view_ + 1);
    std::uint64_t installed_ns = kNever;
    std::uint64_t agreed = cut_ ? run_.event(*cut_).position : 0;
    for (const std::uint32_t life : survivors_) {
      installed_ns = std::min(installed_ns, run_.event(next_install(life)).time_ns);
      if (!cut_ && tally(life) != nullptr) agreed = std::max(agreed, tally(life)->end);
    }
    if (next == nullptr) return;
    for (const Tally& tally : tallies_) {
      const NodeRef who = run_.lives[tally.life].who;
      const auto left = std::ranges::find(next->lefts, who, &ViewLeft::who);
      if (left == next->lefts.end()) continue;
      if (tally.safe_end > agreed) {
        run_.findings.add(Property::F2,
                          run_.name(tally.life) +
                              " was removed and delivered what"
                              " the others did not, in " +
                              where(),
                          {last(tally)});
      }
      // A member that leaves in order delivers all of the view, however slow its application is.
      const std::uint64_t bound_ns =
          left->reason == LeftReason::suspected ? run_.options.evict_bound_ns : 0;
      if (bound_ns > 0 && timing_.awake_ns(who.node, installed_ns, tally.last_ns) > bound_ns) {
        run_.findings.add(Property::F2,
                          run_.name(tally.life) + " delivers in " + where() +
                              " long after the others went on without it",
                          {last(tally)});
      }
    }
  }

  Run& run_;
  const Timing& timing_;
  const Group& group_;
  const std::uint64_t view_;
  std::span<const Tally> tallies_;  // by life
  std::vector<std::uint32_t> survivors_;
  std::optional<EventRef> cut_;
  const Tally* longest_ = nullptr;
};

/// A joiner begins with the first message of its view, a founder with the first of the group.
void check_begin(Run& run, const Group& group, const GroupTrace& trace, const Ending& ending) {
  const Life& life = run.lives[ending.life];
  if (life.installs.empty() || life.gaps()) return;
  const std::uint64_t view =
      group.at_run_time ? run.first_view_in(ending.life, group) : life.installs.front().view;
  const EventRef ref{ending.life, ending.first_index};
  const auto at = [&](const std::map<Key, std::vector<EventRef>>& refs, std::uint64_t of) {
    const auto found = refs.find({of, group.id});
    return found != refs.end() && run.event(found->second.front()).position == ending.first;
  };
  if (ending.first == group.first_ordinal) {
    // All that had what comes before may have left, and delivered nothing that was not durable.
    if (run.options.complete && ending.first != group.first && !group.durable &&
        !at(run.snapshots, view) && !(view > 0 && at(run.cuts, view - 1))) {
      run.findings.add(Property::D7,
                       run.name(ending.life) + " begins with ordinal " +
                           std::to_string(ending.first) + ", and nobody delivered those before it",
                       {ref});
    }
    return;
  }
  if (ending.first - 1 - group.first_ordinal >= group.deliveries) return;  // reported as a gap
  const Entry before = trace.sequence.get(ending.first - 1 - group.first_ordinal);
  const auto ahead = static_cast<std::int32_t>(before.view - static_cast<std::uint32_t>(view));
  // All members that had to deliver the message before the cut may have crashed before they did.
  const bool begins_at_cut = view > 0 && at(run.cuts, view - 1);
  if ((before.sender == 0 && !begins_at_cut && run.options.complete) ||
      (before.sender != 0 && ahead >= 0)) {
    run.findings.add(
        Property::D7,
        run.name(ending.life) +
            " misses messages between the start of its first view and its first delivery",
        {ref});
  }
}

}  // namespace

void check_agreement(Run& run, Trace& trace, const Timing& timing) {
  for (auto& [id, traced] : trace.groups) {
    const Group& group = run.groups.at(id);
    if (!group.ordered()) continue;
    std::vector<Tally>& tallies = traced.tallies;
    std::ranges::sort(tallies, {}, [](const Tally& t) { return std::pair(t.view, t.life); });
    for (auto begin = tallies.begin(); begin != tallies.end();) {
      const std::uint64_t view = begin->view;
      const auto end = std::ranges::find_if(begin, tallies.end(),
                                            [&](const Tally& t) { return t.view != view; });
      InView(run, timing, group, view, {begin, end}).check();
      begin = end;
    }
    for (const Ending& ending : traced.endings) check_begin(run, group, traced, ending);
  }
}

}  // namespace tutti::history
