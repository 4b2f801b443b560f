#include "sim/scenario.hpp"

#include <algorithm>
#include <iterator>

#include "base/prng.hpp"

namespace tutti::sim {
namespace {

// Half of the time: passes stop in the middle.
void interrupt(Options& options, Prng& random) {
  if (random.one_in(2)) return;
  options.interrupts.one_in = static_cast<std::uint32_t>(8 << random.below(4));
  options.interrupts.most_ns = 1 + (options.net.delay_ns << random.below(4)) / 2;
  if (harmless(options)) return;
  options.interrupts.pauses = static_cast<std::uint32_t>(random.below(4));
  options.interrupts.deaths = static_cast<std::uint32_t>(random.below(2));
}

std::vector<Scenario> with_those_of_applications(std::vector<Scenario> all) {
  std::vector<Scenario> more = scenarios_of_applications();
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = with_those_of_applications({
      {"swarm", "the seed draws everything",
       [](Options& options) {
         Prng rare(options.seed ^ 0x72617265ULL);
         options.faults.ends = rare.one_in(20);
         if (rare.one_in(20)) options.litmus_rounds = static_cast<std::uint32_t>(1 + rare.below(3));
         if (rare.one_in(20)) options.message_max_bytes = 2000;
         if (rare.one_in(20)) options.claims = static_cast<std::uint32_t>(1 + rare.below(4));
         options.parts = options.groups > 1 && rare.one_in(10);
         if (rare.one_in(6)) options.faults.lingers = static_cast<std::uint32_t>(1 + rare.below(8));
         if (options.hosts == 1 && options.faults.lingers == 0) interrupt(options, rare);
         if (rare.one_in(4)) options.look_every_ns = options.net.delay_ns << rare.below(4);
         options.takes = options.own_threads && rare.one_in(2);
         if (rare.one_in(12)) options.alignment = 16U << rare.below(6);
         options.logged = rare.one_in(6);
         if (options.logged && options.level == Level::atomic && rare.one_in(2)) {
           options.level = Level::durable;
         }
       }},
      {"calm", "no faults at all", [](Options& options) { options.faults = {}; }},
      {"crash", "members crash and rejoin",
       [](Options& options) { options.faults = {.crashes = 4}; }},
      {"standstill", "all nodes pause at the same time: no member has a reason to suspect another",
       [](Options& options) {
         options.net.slow_one_in = 0;
         options.faults = {.standstills = 4};
       }},
      {"zombie", "members pause until they are suspected; posts of crashed members land late",
       [](Options& options) { options.faults = {.crashes = 2, .pauses = 4, .late_writes = true}; }},
      {"pauses",
       "one node at a time pauses: too briefly to be suspected, or long enough to be evicted",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 3U);
         options.founders = options.nodes;
         options.net.slow_one_in = 0;
         options.fault_ns *= 2;
         options.faults = {.pauses = 3};
       }},
      {"partition", "the network splits into two parts, or a link is cut in one direction",
       [](Options& options) { options.faults = {.partitions = 3, .one_way_cuts = 3}; }},
      {"flapping", "links are cut and mended again and again, in one direction or both",
       [](Options& options) { options.faults = {.one_way_cuts = 1, .flaps = 4}; }},
      {"lies", "members are told that they lost another member, or all of them, which in fact run",
       [](Options& options) { options.faults = {.crashes = 1, .lies = 4}; }},
      {"join-storm", "several nodes join at the same time while others crash",
       [](Options& options) {
         options.nodes = 7;
         options.founders = 4;
         options.faults = {.crashes = 2, .broken_links = 2};
       }},
      {"arrivals", "nodes join one after the other: no member has a reason to suspect another",
       [](Options& options) {
         options.nodes = 7;
         options.founders = 4;
         options.net.slow_one_in = 0;
         options.faults = {};
       }},
      {"states", "givers of the state or joiners crash; applications save and load slowly",
       [](Options& options) {
         const std::uint64_t seed = options.seed;
         options.nodes = 7;
         options.founders = 4;
         options.groups = 2;
         options.states = {.save_ns = options.suspect_after_ns * (seed % 3),
                           .piece_ns = options.net.delay_ns * (1 + seed / 3 % 4)};
         options.calm_ns += 20 * options.suspect_after_ns;
         options.faults = {.crashes = 1,
                           .broken_links = static_cast<std::uint32_t>(seed / 5 % 2),
                           .failpoint = seed % 4 == 0 ? Failpoint::taking : Failpoint::giving,
                           .failpoint_times = static_cast<std::uint32_t>(1 + seed / 7 % 2),
                           .failpoint_after = static_cast<std::uint32_t>(seed / 4 % 30)};
       }},
      {"apart", "one end of a connection learns that it is up long before the other",
       [](Options& options) {
         options.nodes = 7;
         options.founders = 4;
         options.learn_within_ns = 2 * options.suspect_after_ns;
         options.faults = {.crashes = 3, .broken_links = 2, .leaves = 1};
       }},
      {"failpoints", "members crash at a named step of the protocol; each seed takes the next step",
       [](Options& options) {
         const std::uint64_t seed = options.seed;
         options.net.slow_one_in = 0;
         options.nodes = std::max(options.nodes, 4U);
         options.founders = options.nodes - 1;
         options.faults = {
             .crashes = 1,
             .broken_links = 1,
             .leaves = 2,
             .failpoint = kFailpoints[seed % kFailpoints.size()].first,
             .failpoint_times = static_cast<std::uint32_t>(1 + seed / 7 % 2),
             .failpoint_after = static_cast<std::uint32_t>(seed / kFailpoints.size() % 12),
             .silent_crashes = seed / 5 % 2 == 0,
             .late_writes = seed / 3 % 2 == 0};
       }},
      {"founding", "members crash and links break while the group is founded",
       [](Options& options) {
         options.fault_ns = 20 * options.net.delay_ns + 2 * options.suspect_after_ns;
         options.calm_ns += 10 * options.suspect_after_ns;
         options.founders = options.nodes;
         options.faults = {.crashes = 3, .pauses = 1, .one_way_cuts = 1, .broken_links = 2};
       }},
      {"halves",
       "a founder that accepted the first view, and the late nodes, no longer hear the others",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 5U);
         options.founders = options.nodes / 2 + 1;
         options.hosts = options.nodes;
         options.fault_ns = 20 * options.net.delay_ns + 16 * options.suspect_after_ns;
         options.calm_ns += 10 * options.suspect_after_ns;
         options.faults = {.partitions = 1,
                           .broken_links = 1,
                           .splits = static_cast<std::uint32_t>(1 + options.seed % 3)};
       }},
      {"orphans", "both givers of the state crash",
       [](Options& options) {
         options.nodes = 5;
         options.founders = 4;
         options.hosts = options.nodes;
         options.net.slow_one_in = 0;
         options.level = Level::atomic;
         options.faults = {.failpoint = Failpoint::giving, .failpoint_times = 2};
       }},
      {"lone", "all members leave but one, which crashes while it admits several nodes",
       [](Options& options) {
         options.nodes = 5 + static_cast<std::uint32_t>(options.seed % 3);
         options.founders = options.nodes / 2 + 1;
         options.hosts = options.seed % 2 == 0 ? options.nodes : options.hosts;
         options.net.slow_one_in = 0;
         options.learn_within_ns = options.suspect_after_ns / 2;
         options.faults = {.broken_links = 1, .in_changes = 1, .lone = true};
       }},
      {"takeover", "more faults happen during changes of view; leaders crash",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 3U);
         options.founders = options.nodes;
         options.faults = {.crashes = 1, .broken_links = 1, .leaves = 2, .in_changes = 8};
       }},
      {"successors", "a leader's successor misses its proposal; then no member hears the leader",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 5U);
         options.founders = options.nodes;
         options.hosts = options.nodes;
         options.net.slow_one_in = 0;
         options.faults = {.broken_links = 1, .leaves = 2, .successors = 1};
         if (options.seed % 2 == 0) return;
         options.faults.leaves = 4;
         options.faults.successors = 4;
         options.faults.hasty = true;
       }},
      {"hasty", "a successor suspects its leader while the others accept the leader's proposal",
       [](Options& options) {
         options.nodes = options.founders = options.hosts = 5;
         options.groups = 1;
         options.parts = false;
         options.net.slow_one_in = 0;
         options.net.landing_ns = 2 * options.net.delay_ns;  // passes meet the middle of it
         options.poll_ns = options.net.delay_ns / 2;
         options.fault_ns /= 2;
         options.calm_ns /= 2;
         options.send_every_ns *= 8;
         options.faults = {.broken_links = 4, .leaves = 2, .successors = 2, .hasty = true};
       }},
      {"leave", "members leave in order, some while others crash",
       [](Options& options) { options.faults = {.crashes = 2, .leaves = 4}; }},
      {"handover", "members leave in order while joiners take the state from them",
       [](Options& options) {
         const std::uint64_t seed = options.seed;
         options.nodes = static_cast<std::uint32_t>(3 + seed % 4);
         options.founders = options.nodes / 2 + 1;
         options.groups = 2;
         options.net.slow_one_in = 0;
         // A joiner leaves a giver that saves for longer than suspect_after.
         options.states = {.save_ns = options.suspect_after_ns * (seed % 4) * (seed % 4) / 2,
                           .piece_ns = options.suspect_after_ns * (1 + seed / 3 % 4) / 4};
         options.calm_ns += 60 * options.suspect_after_ns;
         options.faults = {.leaves = 2 * options.nodes};
       }},
      {"ends",
       "all members finish at about the same time, then end silently or leave; other nodes join",
       [](Options& options) {
         const std::uint64_t seed = options.seed;
         options.nodes = static_cast<std::uint32_t>(2 + seed % 5);
         options.founders =
             options.nodes - static_cast<std::uint32_t>(seed / 5 % ((options.nodes + 1) / 2));
         options.hosts = options.nodes - (seed / 3 % 2);
         options.net.slow_one_in = 0;
         options.faults = {
             .crashes = seed % 4 == 0 ? 1U : 0U, .stuck = seed % 7 == 0 ? 3U : 0U, .ends = true};
         if (seed % 8 == 3) options.faults.lies = 2;
       }},
      {"outsiders", "nodes that wait to be admitted fall silent, or vanish and start again",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 5U);
         options.founders = options.nodes / 2 + 1;
         options.net.slow_one_in = 0;
         options.learn_within_ns = options.seed % 3 * options.net.delay_ns * 10;
         options.faults = {.crashes = static_cast<std::uint32_t>(options.seed % 2),
                           .broken_links = 2,
                           .hushes = 6};
       }},
      {"trials", "members test each path before they trust it; some paths keep no order of writes",
       [](Options& options) {
         options.litmus_rounds = static_cast<std::uint32_t>(1 + options.seed % 4);
         options.hosts = options.nodes;
         options.net.slow_one_in = 0;
         options.net.disorder_ns = 4 * options.poll_ns;
         options.calm_ns += 10 * options.suspect_after_ns;
         options.faults = {.crashes = 2,
                           .broken_links = 3,
                           .leaves = 1,
                           .disorders = static_cast<std::uint32_t>(options.seed / 2 % 2)};
       }},
      {"large-records", "the windows run out of bytes before they run out of records",
       [](Options& options) {
         options.message_max_bytes = static_cast<std::uint32_t>(1000 + options.seed % 5 * 250);
         options.window_messages = 8U << options.seed % 3;
         options.large_one_in = 2;
         options.claims = options.seed % 3 == 1 ? 3 : 0;
         if (options.seed % 4 == 3) options.alignment = 16U << options.seed / 4 % 6;
         options.send_every_ns = options.net.delay_ns + options.net.jitter_ns;
         options.net.slow_one_in = 0;
         options.faults = {
             .crashes = 2, .broken_links = 2, .leaves = 1, .stuck = 2, .in_changes = 4};
       }},
      {"backlogs", "members must send more again after a change of view than fits one batch",
       [](Options& options) {
         options.nodes = 4;
         options.founders = 4;
         options.hosts = options.seed % 5 == 0 ? 1 : 4;
         options.groups = 1;
         options.level = options.seed % 7 == 0 ? Level::unordered : Level::atomic;
         options.window_bytes = 512 * 1024;
         options.message_max_bytes = 64 * 1024;
         options.window_messages = 32;
         options.large_one_in = 1;
         options.burst = 16;
         options.send_every_ns = options.suspect_after_ns;
         options.net.slow_one_in = 0;
         // What a held link's end lacks is sent again in the next view, if it is in that.
         options.faults = {.crashes = 3, .one_way_cuts = 2, .flaps = 8, .broken_links = 2};
         if (options.seed % 2 != 0) {
           options.faults = {.flaps = 8, .broken_links = 3, .in_changes = 2, .ends = true};
         }
       }},
      {"parts", "groups have only some nodes as members, and only some of those send",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 4U);
         options.founders = std::max(options.founders, options.nodes / 2 + 1);
         options.groups = static_cast<std::uint32_t>(2 + options.seed % 3);
         options.parts = true;
         options.net.slow_one_in = 0;
         options.faults = {.leaves = 1, .stuck = 2};
         options.faults.ends = options.seed % 4 == 0;
         if (options.faults.ends && options.seed % 8 != 0) return;  // nobody fails
         options.faults.crashes = options.faults.broken_links = 2;
       }},
      {"unordered", "a group that promises no order, while members crash and leave",
       [](Options& options) {
         options.level = Level::unordered;
         options.net.slow_one_in = 20;
         options.faults = {.crashes = 2, .broken_links = 4, .leaves = 1, .in_changes = 6};
       }},
      {"any-order", "a network that promises no order of writes, while members crash and leave",
       [](Options& options) {
         options.hosts = options.nodes;
         options.net.ordering = Ordering::none;
         options.faults = {.crashes = 2, .broken_links = 2, .leaves = 1, .in_changes = 4};
       }},
      {"agreed", "a group at level agreed, while members crash, leave and join",
       [](Options& options) {
         options.level = Level::agreed;
         if (options.seed % 2 == 0) options.hosts = 1;
         options.groups = 1;
         options.nodes = std::max(options.nodes, 7U);
         options.founders = options.nodes / 2 + 1;
         // Links that break as a view begins: some members have met all, others have not (I7).
         options.faults = {
             .crashes = 3, .broken_links = 20, .leaves = 1, .in_changes = 2, .newcomers = 40};
         Prng rare(options.seed ^ 0x61677265ULL);
         interrupt(options, rare);
       }},
      {"passing", "a group at level agreed, whose senders crash after only some members heard them",
       [](Options& options) {
         options.level = Level::agreed;
         options.groups = 1;
         options.nodes = 5 + static_cast<std::uint32_t>(options.seed % 3);
         options.founders = options.nodes;
         options.hosts = 1 + static_cast<std::uint32_t>(options.seed / 3 % options.nodes);
         options.window_messages = 8U << options.seed % 3;
         options.net.slow_one_in = 0;
         if (options.seed % 5 == 0) options.net.ordering = Ordering::none;
         options.send_every_ns = (options.net.delay_ns + options.net.jitter_ns) / 2;
         options.large_one_in = 1 + static_cast<std::uint32_t>(options.seed / 2 % 4);
         options.faults = {.crashes = 1, .muted = 6, .broken_links = 2, .in_changes = 3};
         Prng rare(options.seed ^ 0x70617373ULL);
         interrupt(options, rare);
       }},
      {"doorbells", "a third of all doorbells are lost",
       [](Options& options) { options.faults = {.crashes = 1, .lost_doorbells_percent = 33}; }},
      {"shared", "all nodes are on one host: they share rows, there are no replicas",
       [](Options& options) {
         options.hosts = 1;
         Prng rare(options.seed ^ 0x73686172ULL);
         interrupt(options, rare);
       }},
      {"between",
       "all nodes are on one host; a pass stops between two reads or stores while others run",
       [](Options& options) {
         Prng rare(options.seed ^ 0x62657477ULL);
         options.hosts = 1;
         options.nodes = static_cast<std::uint32_t>(4 + rare.below(4));
         options.founders = options.nodes - 1;
         options.net.slow_one_in = 0;
         options.send_every_ns = options.net.delay_ns << rare.below(5);
         options.faults = {.crashes = 2,
                           .broken_links = static_cast<std::uint32_t>(4 + rare.below(8)),
                           .lies = static_cast<std::uint32_t>(rare.below(6)),
                           .leaves = static_cast<std::uint32_t>(rare.below(3)),
                           .in_changes = 2};
         options.interrupts = {.one_in = 1U << rare.below(5),
                               .most_ns = options.net.delay_ns << rare.below(4),
                               .pauses = static_cast<std::uint32_t>(rare.below(6)),
                               .deaths = static_cast<std::uint32_t>(rare.below(3))};
       }},
  });
  return all;
}

Result<Scenario> scenario_from(std::string_view name) {
  const auto found = std::ranges::find(scenarios(), name, &Scenario::name);
  if (found != scenarios().end()) return *found;
  std::string known;
  for (const Scenario& scenario : scenarios()) {
    known += (known.empty() ? "" : ", ") + std::string(scenario.name);
  }
  return fail(ErrorCode::invalid_argument,
              "there is no scenario '" + std::string(name) + "'; there are " + known);
}

}  // namespace tutti::sim
