// Nothing to say, nothing said: no nulls or pushes in quiet times, few nulls else (V2).
#include <algorithm>
#include <map>
#include <string>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

struct QuietTime {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::optional<std::uint32_t> life;  // whom it concerns, empty: all
  Place begin;
};

std::vector<QuietTime> quiet_times(const Run& run) {
  std::vector<QuietTime> times;
  for (const Place place : run.harness) {
    const Event& event = run.event(place);
    std::optional<std::uint32_t> life;
    if (event.node != kHarnessNode) life = place.life;
    if (event.kind == EventKind::quiet_begin) {
      times.push_back({event.time_ns, kNever, life, place});
    } else if (event.kind == EventKind::quiet_end) {
      const auto open = std::ranges::find_if(
          times, [&](const QuietTime& t) { return t.end_ns == kNever && t.life == life; });
      if (open != times.end()) open->end_ns = event.time_ns;
    }
  }
  return times;
}

void check_quiet_time(Run& run, const QuietTime& quiet) {
  std::map<std::uint32_t, std::pair<std::uint64_t, Place>> beats;
  for (const Place place : run.counts) {
    const Event& event = run.event(place);
    const bool inside = event.time_ns > quiet.begin_ns && event.time_ns < quiet.end_ns;
    if (!inside || event.number == 0 || (quiet.life && *quiet.life != place.life)) continue;
    if (event.kind == EventKind::heartbeats) {
      beats[place.life].first += event.number;
      beats[place.life].second = place;
      continue;
    }
    run.findings.add(Property::V2,
                     run.name(place.life) +
                         (event.kind == EventKind::nulls ? " sends nulls" : " pushes data") +
                         " though there is nothing to say",
                     {quiet.begin, place});
  }
  const std::uint64_t interval_ns = run.options.heartbeat_interval_ns;
  if (interval_ns == 0) return;
  const std::uint64_t length_ns = std::min(quiet.end_ns, run.end_ns) - quiet.begin_ns;
  for (const auto& [life, counted] : beats) {
    const std::uint64_t most = length_ns / interval_ns + 2;  // one on either edge
    if (counted.first <= most) continue;
    run.findings.add(Property::V2,
                     run.name(life) + " sends " + std::to_string(counted.first) +
                         " heartbeats in a quiet time for " + std::to_string(most),
                     {quiet.begin, counted.second});
  }
}

/// A null answers a message of another, so there are no more of them, but for some per view.
void check_nulls(Run& run) {
  std::map<std::uint16_t, std::map<std::uint32_t, std::uint64_t>> sent;
  std::map<std::uint16_t, std::uint64_t> all;
  run.for_each_send_log([&](std::uint16_t group, const SendLog& log) {
    sent[group][log.life] += log.count;
    all[group] += log.count;
  });
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::pair<std::uint64_t, Place>> nulls;
  for (const Place place : run.counts) {
    const Event& event = run.event(place);
    if (event.kind != EventKind::nulls) continue;
    auto& [count, last] = nulls[{event.group, place.life}];
    count += event.number;
    last = place;
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
    run.findings.skip("V2: nulls in all: not complete");
  }
}

}  // namespace tutti::history
