// One decision ends a view: it is the same at all members, and all survivors have it (M7 D11).
#include <algorithm>
#include <set>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

std::string where(const Key& key) {
  return "the cut of view " + std::to_string(key.first) + ", group " + std::to_string(key.second);
}

void check_decision(Run& run, const Key& key, const std::vector<EventRef>& refs) {
  std::set<std::uint32_t> seen;
  const Event& first = run.event(refs.front());
  for (const EventRef ref : refs) {
    const Event& cut = run.event(ref);
    if (!seen.insert(ref.life).second) {
      run.findings.add(Property::M7, run.name(ref.life) + " decides " + where(key) + " twice",
                       {ref});
    }
    const Installation* view = run.installed_at(ref);
    if (view == nullptr || view->view != key.first) {
      run.findings.add(Property::M7,
                       run.name(ref.life) + " decides " + where(key) + ", which it is not in",
                       {ref});
    }
    if (cut.number != first.number) {
      run.findings.add(Property::M7,
                       run.name(ref.life) + " and " + run.name(refs.front().life) +
                           " decide differently on " + where(key),
                       {refs.front(), ref});
    }
    if (cut.position != first.position) {
      run.findings.add(
          Property::D11,
          run.name(ref.life) + " and " + run.name(refs.front().life) + " disagree on " + where(key),
          {refs.front(), ref});
    }
  }
  for (const std::uint32_t life : run.survivors(key.first)) {
    const ViewContent* content = run.content_at(life, key.first);
    if (seen.contains(life) || run.lives[life].gaps() || content == nullptr ||
        content->group_member(key.second, run.lives[life].who) == nullptr) {
      continue;
    }
    run.findings.add(Property::M7, run.name(life) + " goes on from a view without " + where(key),
                     {refs.front()});
  }
}

}  // namespace

void check_cuts(Run& run) {
  for (const auto& [key, refs] : run.cuts) check_decision(run, key, refs);
}

}  // namespace tutti::history
