#include "sim/run.hpp"

#include <algorithm>

#include "history/checker/check.hpp"
#include "history/text.hpp"
#include "multicast/stability.hpp"
#include "sim/restarts.hpp"
#include "sim/trace.hpp"
#include "sim/world.hpp"

namespace tutti::sim {
namespace {

std::string violations(const World& world) {
  history::CheckOptions options;
  options.shown_max = 2;
  const std::optional<RestartView> restarts = restarts_of(world.options());
  for (std::size_t g = 0; g < world.groups().size(); ++g) {
    const GroupOptions& group = world.groups()[g];
    options.groups[static_cast<std::uint16_t>(g)] = {
        .level = waits_for_all(group.level) ? Level::atomic : group.level,
        .round_robin = true,
        .one_service = group.order != Order::token_ring,
        .one_number = group.order == Order::token_ring,
        .durable = group.level == Level::durable,
        .first = restarts ? restarts->firsts[g] : 0};
  }
  for (std::size_t i = 0; i < world.openings().all().size(); ++i) {
    options.groups[world.openings().number(i)] = {
        .level = Level::atomic,
        .round_robin = true,
        .one_service = true,
        .first = world.openings().all()[i].first_seq.value_or(0),
        .at_run_time = true,
        .parted = world.openings().all()[i].parted};
  }
  options.suspect_after_ns = world.suspect_after_ns();
  options.stop_bound_ns = options.evict_bound_ns = world.stop_bound_ns();
  // These two hold where nothing else keeps a member from hearing or delivering.
  const Faults& faults = world.options().faults;
  const InterruptOptions& stops = world.options().interrupts;
  const bool more = stops.pauses + stops.deaths != 0;
  if (!more && faults == Faults{.crashes = faults.crashes,
                                .lost_doorbells_percent = faults.lost_doorbells_percent}) {
    options.wake_bound_ns = world.wake_bound_ns();
  }
  if (!more && faults == Faults{.pauses = faults.pauses}) {
    // What is heard last before a pause may be a beat old, and another one passes after it.
    options.pause_harmless_ns = world.suspect_after_ns() - 2 * world.options().heartbeat_ns;
    options.pause_fatal_ns = world.suspect_after_ns() * 3 / 2 + 3 * world.options().heartbeat_ns;
    options.pause_view_ns = 2 * world.suspect_after_ns();
  }
  // Of the calm, a third is over when the world says that all is healed.
  options.deliver_bound_ns = world.calm_ns() / 3 + world.rotations_ns();
  if (!world.all_end()) options.view_bound_ns = world.calm_ns() / 3;
  const Result<history::Report> report = history::check(world.histories(), options);
  if (!report) return report.error().message;
  std::string text;
  for (const history::Violation& violation : report->violations) text += to_string(violation);
  return text;
}

Outcome judge(const World& world) {
  Outcome outcome;
  outcome.hash = world.hash();
  outcome.passes = world.passes();
  outcome.views = world.views();
  outcome.messages = world.messages();
  outcome.deaths = world.deaths();
  outcome.delays = world.delays();
  outcome.text = world.finding();
  if (outcome.text.empty()) outcome.text = violations(world);
  if (!outcome.text.empty()) {
    outcome.verdict = Verdict::unsafe;
    return outcome;
  }
  outcome.text = world.unfinished();
  if (outcome.text.empty()) outcome.text = outcome.delays.too_long;
  if (!outcome.text.empty()) outcome.verdict = Verdict::unfinished;
  return outcome;
}

}  // namespace

Outcome run(const Options& options) {
  World world(options);
  world.run();
  return judge(world);
}

Outcome run_traced(const Options& options, std::string& text) {
  World world(options);
  world.run();
  struct Line {
    std::uint64_t time_ns;
    std::string text;
  };
  std::vector<Line> lines;
  for (const history::History& history : world.histories()) {
    for (const history::Event& event : history.events) {
      const std::string who = event.node == history::kHarnessNode
                                  ? "world"
                                  : to_string(history::NodeRef{event.node, event.incarnation});
      lines.push_back({event.time_ns, who + " " + to_string(event)});
    }
  }
  std::ranges::stable_sort(lines, {}, &Line::time_ns);
  for (const Line& line : lines) text += std::to_string(line.time_ns) + " " + line.text + "\n";
  return judge(world);
}

}  // namespace tutti::sim
