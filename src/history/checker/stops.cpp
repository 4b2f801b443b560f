// Leaving and stopping end in time (V4), and what is bounded stays in its bounds (B1).
#include <algorithm>
#include <string>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

void check_ends(Run& run, std::uint32_t life, std::uint64_t from, const std::string& what) {
  const Life& member = run.lives[life];
  if (from == kNever || member.crashed || member.gaps()) return;
  const Place place{life, from};
  const std::uint64_t from_ns = run.event(place).time_ns;
  const std::uint64_t bound_ns = run.options.leave_bound_ns;
  const bool stopped = member.stopped != kNever;
  const std::uint64_t until_ns = stopped ? run.event({life, member.stopped}).time_ns : run.end_ns;
  if (until_ns < from_ns || until_ns - from_ns <= bound_ns) return;
  run.findings.add(Property::V4, run.name(life) + " has not stopped in time after " + what,
                   {place});
}

}  // namespace

void check_stops(Run& run) {
  if (run.options.leave_bound_ns == 0) {
    return run.findings.skip("V4: no bound for leaving given");
  }
  for (std::uint32_t life = 0; life < run.lives.size(); ++life) {
    check_ends(run, life, run.lives[life].leave, "it was asked to leave");
    check_ends(run, life, run.lives[life].evicted, "it learnt of its eviction");
  }
}

void check_resources(Run& run) {
  for (const Place place : run.resources) {
    const Event& event = run.event(place);
    if (event.number <= event.position) continue;
    run.findings.add(
        Property::B1,
        run.name(place.life) + " uses more than its limit of " + std::to_string(event.position),
        {place});
  }
}

}  // namespace tutti::history
