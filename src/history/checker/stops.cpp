// A member that leaves or is evicted stops in time (V4); resources stay within their limits (B1).
#include <algorithm>
#include <string>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

void check_ends(Run& run, std::uint32_t life, std::uint64_t from, const std::string& what) {
  const Life& member = run.lives[life];
  if (from == kNever || member.crashed || member.gaps()) return;
  const EventRef ref{life, from};
  const std::uint64_t from_ns = run.event(ref).time_ns;
  const std::uint64_t bound_ns = run.options.leave_bound_ns;
  const bool stopped = member.stopped != kNever;
  const std::uint64_t until_ns = stopped ? run.event({life, member.stopped}).time_ns : run.end_ns;
  if (until_ns < from_ns || until_ns - from_ns <= bound_ns) return;
  run.findings.add(Property::V4, run.name(life) + " has not stopped in time after " + what, {ref});
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
  for (const EventRef ref : run.resources) {
    const Event& event = run.event(ref);
    if (event.number <= event.position) continue;
    run.findings.add(
        Property::B1,
        run.name(ref.life) + " uses more than its limit of " + std::to_string(event.position),
        {ref});
  }
}

}  // namespace tutti::history
