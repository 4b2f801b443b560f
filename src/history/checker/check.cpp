#include "history/checker/check.hpp"

#include <map>
#include <string>

#include "history/checker/families.hpp"
#include "history/checker/findings.hpp"
#include "history/checker/pages.hpp"
#include "history/checker/run.hpp"
#include "history/checker/timing.hpp"
#include "history/checker/trace.hpp"
#include "history/checker/walk.hpp"
#include "history/text.hpp"

namespace tutti::history {
namespace {

Result<void> check_input(std::span<const History> histories) {
  std::map<NodeRef, const History*> seen;
  for (const History& history : histories) {
    const NodeRef who{history.identity.node, history.identity.incarnation};
    if (who.node == kHarnessNode) continue;
    const auto [other, fresh] = seen.try_emplace(who, &history);
    if (!fresh) {
      return fail(ErrorCode::invalid_argument, history.source + " and " + other->second->source +
                                                   " are both of " + to_string(who) +
                                                   "; give each history once, and of one run only");
    }
  }
  return {};
}

void note_skipped(const Run& run) {
  const CheckOptions& options = run.options;
  if (!options.primary) run.findings.skip("M4: the group need not be primary");
  if (options.deliver_bound_ns == 0) run.findings.skip("V1: no bound for deliveries given");
  if (options.stop_bound_ns == 0) run.findings.skip("V3: no bound for stopping given");
  if (options.evict_bound_ns == 0) run.findings.skip("F2: no bound for removed members given");
  if (options.wake_bound_ns == 0) run.findings.skip("V5: no bound for lost doorbells given");
  for (const Life& life : run.lives) {
    if (!life.gaps()) continue;
    run.findings.skip(life.history->source + " has lost " + std::to_string(life.history->lost) +
                      " events: gaps in it are not taken for violations");
  }
}

}  // namespace

Result<Report> check(std::span<const History> histories, const CheckOptions& options) {
  if (Result<void> input = check_input(histories); !input) return std::unexpected(input.error());
  Findings findings(histories, options.shown_max);
  Run run(histories, options, findings);
  note_skipped(run);
  const Timing timing(run);
  check_views(run);
  check_removals(run);
  check_suspicions(run, timing);
  check_proposals(run);
  check_cuts(run);
  Trace trace;
  for (std::uint32_t life = 0; life < run.lives.size(); ++life) {
    const History& history = histories[life];
    findings.report().events += history.events.size();
    if (history.identity.node == kHarnessNode) continue;
    ++findings.report().members;
    Walk walk(run, trace, timing, life);
    for_each_event(history, [&](const Event& e, std::uint64_t index) { walk.see(e, index); });
    walk.end();
  }
  check_ahead(run, trace);
  check_snapshots(run, trace);
  check_agreement(run, trace, timing);
  check_barriers(run);
  check_validity(run, trace, timing);
  check_view_times(run, timing);
  check_quiet(run);
  check_stops(run);
  check_resources(run);
  return std::move(findings.report());
}

}  // namespace tutti::history
