// Joiners take over the state as of the cut, and deliver exactly what follows it (M9).
#include <algorithm>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

void check_same(Run& run, const Key& key, const std::vector<EventRef>& refs) {
  const auto out = std::ranges::find_if(
      refs, [&](EventRef ref) { return run.event(ref).kind == EventKind::snapshot_out; });
  const EventRef first = out != refs.end() ? *out : refs.front();
  if (out == refs.end() && run.options.complete) {
    run.findings.add(Property::M9, run.name(first.life) + " takes over a state that nobody gave",
                     {first});
  }
  for (const EventRef ref : refs) {
    const Event& snapshot = run.event(ref);
    if (snapshot.number != run.event(first).number ||
        snapshot.position != run.event(first).position) {
      run.findings.add(Property::M9,
                       run.name(ref.life) + " and " + run.name(first.life) +
                           " have different states for the joiners of view " +
                           std::to_string(key.first),
                       {first, ref});
    }
  }
  const auto cut = key.first > 0 ? run.cuts.find({key.first - 1, key.second}) : run.cuts.end();
  if (cut != run.cuts.end() &&
      run.event(cut->second.front()).position != run.event(first).position) {
    run.findings.add(Property::M9,
                     run.name(first.life) + " has a state that does not end at the cut",
                     {cut->second.front(), first});
  }
}

/// The joiner's first delivery is the first message that the state does not hold.
void check_joiner(Run& run, const Ending& ending, std::uint16_t group) {
  const Life& life = run.lives[ending.life];
  if (life.installs.empty() || life.gaps()) return;
  const auto refs = run.snapshots.find({life.installs.front().view, group});
  if (refs == run.snapshots.end()) return;  // this group has no state
  const auto taken = std::ranges::find_if(refs->second, [&](EventRef ref) {
    return ref.life == ending.life && run.event(ref).kind == EventKind::snapshot_in;
  });
  const EventRef delivery{ending.life, ending.first_index};
  if (taken == refs->second.end()) {
    run.findings.add(Property::M9,
                     run.name(ending.life) + " delivers without having taken over the state",
                     {delivery});
  } else if (taken->index > ending.first_index) {
    run.findings.add(Property::M9,
                     run.name(ending.life) +
                         " takes over the state after its first"
                         " delivery",
                     {*taken, delivery});
  } else if (run.event(*taken).position != ending.first) {
    run.findings.add(Property::M9,
                     run.name(ending.life) +
                         " begins with a message that does not"
                         " follow its state",
                     {*taken, delivery});
  }
}

}  // namespace

void check_snapshots(Run& run, const Trace& trace) {
  for (const auto& [key, refs] : run.snapshots) check_same(run, key, refs);
  for (const auto& [group, traced] : trace.groups) {
    if (!run.groups.at(group).ordered()) continue;
    for (const Ending& ending : traced.endings) check_joiner(run, ending, group);
  }
}

}  // namespace tutti::history
