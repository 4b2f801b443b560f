// Joiners take over the state as of the cut, and go on exactly behind it (M9).
#include <algorithm>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

void check_same(Run& run, const Key& key, const std::vector<Place>& places) {
  const auto out = std::ranges::find_if(
      places, [&](Place place) { return run.event(place).kind == EventKind::snapshot_out; });
  const Place first = out != places.end() ? *out : places.front();
  if (out == places.end() && run.options.complete) {
    run.findings.add(Property::M9, run.name(first.life) + " takes over a state that nobody gave",
                     {first});
  }
  for (const Place place : places) {
    const Event& snapshot = run.event(place);
    if (snapshot.number != run.event(first).number ||
        snapshot.position != run.event(first).position) {
      run.findings.add(Property::M9,
                       run.name(place.life) + " and " + run.name(first.life) +
                           " have different states for the joiners of view " +
                           std::to_string(key.first),
                       {first, place});
    }
  }
  const auto cut = key.first > 0 ? run.cuts.find({key.first - 1, key.second}) : run.cuts.end();
  if (cut != run.cuts.end() &&
      run.event(cut->second.front()).position != run.event(first).position) {
    run.findings.add(Property::M9, run.name(first.life) + " has a state that is not of the cut",
                     {cut->second.front(), first});
  }
}

/// The joiner's first delivery is the first message that the state does not hold.
void check_joiner(Run& run, const Ending& ending, std::uint16_t group) {
  const Life& life = run.lives[ending.life];
  if (life.installs.empty() || life.gaps()) return;
  const auto places = run.snapshots.find({life.installs.front().view, group});
  if (places == run.snapshots.end()) return;  // this group has no state
  const auto taken = std::ranges::find_if(places->second, [&](Place place) {
    return place.life == ending.life && run.event(place).kind == EventKind::snapshot_in;
  });
  const Place delivery{ending.life, ending.first_index};
  if (taken == places->second.end()) {
    run.findings.add(Property::M9, run.name(ending.life) + " delivers without the state before",
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
  for (const auto& [key, places] : run.snapshots) check_same(run, key, places);
  for (const auto& [group, traced] : trace.groups) {
    if (!run.groups.at(group).ordered()) continue;
    for (const Ending& ending : traced.endings) check_joiner(run, ending, group);
  }
}

}  // namespace tutti::history
