// Members send no nulls and push nothing in quiet times, and send few nulls at other times (V2).
#include <algorithm>
#include <map>
#include <string>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

struct QuietTime {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::optional<std::uint32_t> life;  // the member it is for; empty: all
  EventRef begin;
};

std::vector<QuietTime> quiet_times(const Run& run) {
  std::vector<QuietTime> times;
  for (const EventRef ref : run.harness) {
    const Event& event = run.event(ref);
    std::optional<std::uint32_t> life;
    if (event.node != kHarnessNode) life = ref.life;
    if (event.kind == EventKind::quiet_begin) {
      times.push_back({event.time_ns, kNever, life, ref});
    } else if (event.kind == EventKind::quiet_end) {
      const auto open = std::ranges::find_if(
          times, [&](const QuietTime& t) { return t.end_ns == kNever && t.life == life; });
      if (open != times.end()) open->end_ns = event.time_ns;
    }
  }
  return times;
}

void check_quiet_time(Run& run, const QuietTime& quiet) {
  std::map<std::uint32_t, std::pair<std::uint64_t, EventRef>> beats;
  for (const EventRef ref : run.counts) {
    const Event& event = run.event(ref);
    const bool inside = event.time_ns > quiet.begin_ns && event.time_ns < quiet.end_ns;
    if (!inside || event.number == 0 || (quiet.life && *quiet.life != ref.life)) continue;
    if (event.kind == EventKind::heartbeats) {
      beats[ref.life].first += event.number;
      beats[ref.life].second = ref;
      continue;
    }
    run.findings.add(Property::V2,
                     run.name(ref.life) +
                         (event.kind == EventKind::nulls ? " sends nulls" : " pushes data") +
                         " in a quiet time",
                     {quiet.begin, ref});
  }
  const std::uint64_t interval_ns = run.options.heartbeat_interval_ns;
  if (interval_ns == 0) return;
  const std::uint64_t length_ns = std::min(quiet.end_ns, run.end_ns) - quiet.begin_ns;
  for (const auto& [life, counted] : beats) {
    const std::uint64_t most = length_ns / interval_ns + 2;  // one at each end
    if (counted.first <= most) continue;
    run.findings.add(Property::V2,
                     run.name(life) + " sends " + std::to_string(counted.first) +
                         " heartbeats in a quiet time, at most " + std::to_string(most) +
                         " are due",
                     {quiet.begin, counted.second});
  }
}

/// A member sends a null to answer a message of another, so it sends no more nulls than the others
/// send messages, and a few per view.
void check_nulls(Run& run) {
  std::map<std::uint16_t, std::map<std::uint32_t, std::uint64_t>> sent;
  std::map<std::uint16_t, std::uint64_t> all;
  run.for_each_send_log([&](std::uint16_t group, const SendLog& log) {
    sent[group][log.life] += log.count;
    all[group] += log.count;
  });
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::pair<std::uint64_t, EventRef>> nulls;
  for (const EventRef ref : run.counts) {
    const Event& event = run.event(ref);
    if (event.kind != EventKind::nulls) continue;
    auto& [count, last] = nulls[{event.group, ref.life}];
    count += event.number;
    last = ref;
  }
  for (const auto& [key, counted] : nulls) {
    const auto& [group, life] = key;
    const std::uint64_t of_others = all[group] - sent[group][life];
    const std::uint64_t views = run.lives[life].installs.size() + 1;
    if (counted.first <= of_others + views * run.options.nulls_slack) continue;
    run.findings.add(Property::V2,
                     run.name(life) + " sends " + std::to_string(counted.first) +
                         " nulls though the others sent only " + std::to_string(of_others) +
                         " messages",
                     {counted.second});
  }
}

}  // namespace

void check_quiet(Run& run) {
  for (const QuietTime& quiet : quiet_times(run)) check_quiet_time(run, quiet);
  if (run.options.complete) {
    check_nulls(run);
  } else {
    run.findings.skip("V2: the total of nulls: not complete");
  }
}

}  // namespace tutti::history
