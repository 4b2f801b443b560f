// One decision ends a view: the same for all, and all that go on have it (M7 D11).
#include <algorithm>
#include <set>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

std::string where(const Key& key) {
  return "the cut of view " + std::to_string(key.first) + ", group " + std::to_string(key.second);
}

void check_decision(Run& run, const Key& key, const std::vector<Place>& places) {
  std::set<std::uint32_t> seen;
  const Event& first = run.event(places.front());
  for (const Place place : places) {
    const Event& cut = run.event(place);
    if (!seen.insert(place.life).second) {
      run.findings.add(Property::M7, run.name(place.life) + " decides " + where(key) + " twice",
                       {place});
    }
    const Installation* view = run.installed_at(place);
    if (view == nullptr || view->view != key.first) {
      run.findings.add(Property::M7,
                       run.name(place.life) + " decides " + where(key) + ", which it is not in",
                       {place});
    }
    if (cut.number != first.number) {
      run.findings.add(Property::M7,
                       run.name(place.life) + " and " + run.name(places.front().life) +
                           " decide differently on " + where(key),
                       {places.front(), place});
    }
    if (cut.position != first.position) {
      run.findings.add(Property::D11,
                       run.name(place.life) + " and " + run.name(places.front().life) +
                           " disagree on " + where(key),
                       {places.front(), place});
    }
  }
  for (const std::uint32_t life : run.survivors(key.first)) {
    const ViewContent* content = run.content_at(life, key.first);
    if (seen.contains(life) || run.lives[life].gaps() || content == nullptr ||
        content->group_member(key.second, run.lives[life].who) == nullptr) {
      continue;
    }
    run.findings.add(Property::M7, run.name(life) + " goes on from a view without " + where(key),
                     {places.front()});
  }
}

}  // namespace

void check_cuts(Run& run) {
  for (const auto& [key, places] : run.cuts) check_decision(run, key, places);
}

}  // namespace tutti::history
