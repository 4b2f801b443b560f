// What applications do to their nodes: they stay in callbacks, hold batches, leave claims open.
#include <algorithm>

#include "base/prng.hpp"
#include "sim/scenario.hpp"

namespace tutti::sim {

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Scenario> scenarios_of_applications() {
  return {
      {"stuck", "applications stay in callbacks during changes of view",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 4U);
         options.founders = options.nodes - 1;
         options.own_threads = options.seed % 3 == 0;
         options.hosts = options.seed % 2 == 0 ? 1 : options.hosts;
         options.net.slow_one_in = 0;
         options.faults = {.crashes = 3,
                           .broken_links = 3,
                           .leaves = 1,
                           .stuck = 12,
                           .late_writes = options.seed % 5 == 0};
       }},
      {"lingering",
       "applications stay in callbacks while the node goes on, changes its view and ends",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 3U);
         options.founders = options.nodes - options.nodes / 4;
         options.window_messages = 4U << options.seed % 3;
         // So that space is soon used again.
         options.message_max_bytes = 1000;
         options.large_one_in = 2;
         options.send_every_ns = options.net.delay_ns + options.net.jitter_ns;
         options.net.slow_one_in = 0;
         options.faults = {.crashes = 2,
                           .pauses = static_cast<std::uint32_t>(options.seed % 2),
                           .broken_links = 3,
                           .leaves = 1,
                           .lingers = 24,
                           .late_writes = options.seed % 3 == 0};
       }},
      {"loans", "applications take batches, and hold them while views change and members end",
       [](Options& options) {
         options.nodes = std::max(options.nodes, 3U);
         options.founders = options.nodes - options.nodes / 4;
         options.own_threads = true;
         options.takes = true;
         options.hosts = options.seed % 3 == 0 ? 1 : options.hosts;
         options.parts = options.groups > 1 && options.seed % 5 == 0;
         // So that space is soon used again.
         options.message_max_bytes = 1000;
         options.large_one_in = 2;
         options.window_messages = 4U << options.seed % 3;
         options.send_every_ns = options.net.delay_ns + options.net.jitter_ns;
         options.net.slow_one_in = 0;
         options.faults = {.crashes = 2,
                           .pauses = static_cast<std::uint32_t>(options.seed % 2),
                           .broken_links = 2,
                           .leaves = 2,
                           .late_writes = options.seed % 3 == 0};
         options.faults.ends = options.seed % 7 == 0;
       }},
      {"claims",
       "applications build several messages at a time; they commit in any order, or abandon some",
       [](Options& options) {
         options.claims = static_cast<std::uint32_t>(1 + options.seed % 6);
         options.window_messages = 4U << options.seed / 6 % 3;
         if (options.seed % 5 == 4) {
           options.alignment = 16U << options.seed % 9;
           options.window_bytes = std::max<std::uint64_t>(4096, 8 * options.alignment);
         }
         options.net.slow_one_in = 0;
         options.faults = {.crashes = 2,
                           .broken_links = 3,
                           .leaves = 1,
                           .in_changes = 4,
                           .ends = options.seed % 4 == 0};
       }},
      {"handlers",
       "applications ask for calls at deliveries and for space, while members crash and end",
       [](Options& options) {
         Prng rare(options.seed ^ 0x68616e64ULL);
         options.handler_one_in = static_cast<std::uint32_t>(2 + rare.below(3));
         options.window_messages = 4U << rare.below(3);
         options.claims = rare.one_in(3) ? 2 : 0;
         options.message_max_bytes = 1000;
         options.large_one_in = 2;
         options.send_every_ns = options.net.delay_ns + options.net.jitter_ns;
         options.net.slow_one_in = 0;
         options.faults = {.crashes = 2,
                           .broken_links = 2,
                           .leaves = 2,
                           .stuck = static_cast<std::uint32_t>(rare.below(4)),
                           .in_changes = 2,
                           .ends = rare.one_in(4)};
       }},
      {"requests",
       "applications ask one another, while members crash, pause, join, leave, end and come again",
       [](Options& options) {
         Prng rare(options.seed ^ 0x72657175ULL);
         options.request_one_in = static_cast<std::uint32_t>(1 + rare.below(3));
         options.request_max_bytes = rare.one_in(2) ? 1000 : 100;
         options.nodes = std::max(options.nodes, 3U);
         options.founders = options.nodes - options.nodes / 4;
         if (rare.one_in(2)) options.hosts = 1;
         options.net.slow_one_in = 0;
         options.send_every_ns = (options.net.delay_ns + options.net.jitter_ns) << rare.below(3);
         options.faults = {.crashes = 3,
                           .pauses = static_cast<std::uint32_t>(rare.below(3)),
                           .one_way_cuts = static_cast<std::uint32_t>(rare.below(3)),
                           .broken_links = 2,
                           .leaves = 2,
                           .in_changes = 2,
                           .ends = rare.one_in(4),
                           .late_writes = rare.one_in(3)};
         if (options.hosts != 1) return;
         // An application writes while its node is between two words of a step.
         options.interrupts = {.one_in = 1U << rare.below(4),
                               .most_ns = options.net.delay_ns << rare.below(4),
                               .pauses = static_cast<std::uint32_t>(rare.below(3)),
                               .deaths = static_cast<std::uint32_t>(rare.below(2))};
       }},
      {"groups",
       "applications join and leave groups while members crash, pause, join, leave and are cut off",
       [](Options& options) {
         Prng rare(options.seed ^ 0x67726f75ULL);
         options.spaces = static_cast<std::uint32_t>(1 + rare.below(3));
         options.nodes = std::max(options.nodes, 3U);
         options.founders = options.nodes - options.nodes / 4;
         if (rare.one_in(2)) options.hosts = 1;
         options.claims = rare.one_in(3) ? 2 : 0;
         // So that space is soon used again.
         options.message_max_bytes = 1000;
         options.large_one_in = 2;
         options.send_every_ns = (options.net.delay_ns + options.net.jitter_ns) << rare.below(3);
         options.net.slow_one_in = 0;
         options.faults = {.crashes = 2,
                           .pauses = static_cast<std::uint32_t>(rare.below(3)),
                           .one_way_cuts = static_cast<std::uint32_t>(rare.below(2)),
                           .broken_links = 2,
                           .leaves = 2,
                           .stuck = static_cast<std::uint32_t>(rare.below(4)),
                           .in_changes = static_cast<std::uint32_t>(rare.below(4)),
                           .silent_crashes = rare.one_in(4),
                           .late_writes = rare.one_in(3)};
         if (options.hosts != 1 || rare.one_in(2)) return;
         options.interrupts = {.one_in = 1U << rare.below(4),
                               .most_ns = options.net.delay_ns << rare.below(4),
                               .pauses = static_cast<std::uint32_t>(rare.below(3)),
                               .deaths = static_cast<std::uint32_t>(rare.below(2))};
       }},
      {"barriers",
       "applications call barriers while members crash, pause, join, leave and are cut off",
       [](Options& options) {
         Prng rare(options.seed ^ 0x62617272ULL);
         options.barrier_one_in = static_cast<std::uint32_t>(2 + rare.below(2));
         options.level = options.seed % 4 == 0 ? Level::durable : Level::atomic;
         options.logged = options.level == Level::durable;
         options.durable_quorum = options.seed % 8 == 0;
         options.nodes = std::max(options.nodes, 3U);
         options.founders = options.nodes - options.nodes / 4;
         if (rare.one_in(2)) options.hosts = 1;
         options.takes = options.own_threads && rare.one_in(2);
         options.send_every_ns = (options.net.delay_ns + options.net.jitter_ns) << rare.below(3);
         options.faults = {.crashes = 2,
                           .pauses = 2,
                           .partitions = static_cast<std::uint32_t>(rare.below(2)),
                           .one_way_cuts = static_cast<std::uint32_t>(rare.below(3)),
                           .broken_links = 2,
                           .leaves = 1,
                           .stuck = static_cast<std::uint32_t>(rare.below(4)),
                           .in_changes = 2,
                           .late_writes = rare.one_in(3)};
         if (options.hosts != 1) return;
         // An application calls while its node is between two words of a step.
         options.interrupts = {.one_in = 1U << rare.below(4),
                               .most_ns = options.net.delay_ns << rare.below(4),
                               .pauses = static_cast<std::uint32_t>(rare.below(3)),
                               .deaths = static_cast<std::uint32_t>(rare.below(2))};
       }},
      {"durable",
       "groups are logged on disks that are slow; members crash, pause, join, leave, are cut off",
       [](Options& options) {
         Prng rare(options.seed ^ 0x6469736BULL);
         options.logged = true;
         options.level = rare.one_in(4) ? Level::atomic : Level::durable;
         options.durable_quorum = options.seed % 3 == 0;
         options.founders = options.nodes - options.nodes / 4;
         if (rare.one_in(3)) options.hosts = 1;
         options.parts = options.groups > 1 && rare.one_in(4);
         options.claims = rare.one_in(4) ? 2 : 0;
         options.takes = options.own_threads && rare.one_in(2);
         options.window_messages = 4U << rare.below(4);
         options.send_every_ns = (options.net.delay_ns + options.net.jitter_ns) << rare.below(4);
         options.faults = {.crashes = 3,
                           .pauses = 2,
                           .partitions = static_cast<std::uint32_t>(rare.below(2)),
                           .one_way_cuts = static_cast<std::uint32_t>(rare.below(2)),
                           .broken_links = 2,
                           .lies = static_cast<std::uint32_t>(rare.below(2)),
                           .leaves = 2,
                           .stuck = static_cast<std::uint32_t>(rare.below(3)),
                           .in_changes = 2,
                           .ends = rare.one_in(5),
                           .late_writes = rare.one_in(3)};
         if (rare.one_in(4)) {  // all leave, some before their logs have what they were delivered
           options.faults = {.leaves = 4 * options.nodes};
           options.disk = {.sync_ns = options.disk.sync_ns,
                           .slow_one_in = 2,
                           .slow_ns = options.disk.slow_ns,
                           .room = 1};
         }
         if (options.hosts != 1) return;
         options.interrupts = {.one_in = 1U << rare.below(4),
                               .most_ns = options.net.delay_ns << rare.below(4),
                               .pauses = static_cast<std::uint32_t>(rare.below(3)),
                               .deaths = static_cast<std::uint32_t>(rare.below(2))};
       }},
      {"restarted",
       "some nodes come back from their logs and found a later view; the others join, members "
       "crash",
       [](Options& options) {
         Prng rare(options.seed ^ 0x72737474ULL);
         options.restarted = true;
         options.logged = true;
         options.level = rare.one_in(4) ? Level::atomic : Level::durable;
         options.durable_quorum = options.seed % 3 == 0;
         options.nodes = static_cast<std::uint32_t>(3 + rare.below(4));
         options.founders = static_cast<std::uint32_t>(2 + rare.below(options.nodes - 1));
         options.hosts = rare.one_in(3) ? 1 : options.nodes;
         options.window_messages = 4U << rare.below(4);
         options.send_every_ns = (options.net.delay_ns + options.net.jitter_ns) << rare.below(4);
         if (rare.one_in(2)) options.fault_ns /= 2;
         options.faults = {.crashes = 2,
                           .pauses = static_cast<std::uint32_t>(rare.below(2)),
                           .one_way_cuts = static_cast<std::uint32_t>(rare.below(2)),
                           .broken_links = 2,
                           .leaves = 1,
                           .in_changes = static_cast<std::uint32_t>(rare.below(4)),
                           .ends = rare.one_in(6),
                           .late_writes = rare.one_in(3)};
         if (rare.one_in(4)) options.faults = {};
         if (options.hosts != 1 || rare.one_in(2)) return;
         options.interrupts = {.one_in = 1U << rare.below(4),
                               .most_ns = options.net.delay_ns << rare.below(4)};
       }},
      {"ticks",
       "groups have ticks, system clocks differ; members crash, pause, join, leave, are cut off",
       [](Options& options) {
         Prng rare(options.seed ^ 0x7469636BULL);
         options.tick_every_ns = (options.net.delay_ns + options.net.jitter_ns)
                                 << (1 + rare.below(5));
         options.founders = options.nodes - options.nodes / 4;
         if (rare.one_in(3)) options.hosts = 1;
         if (rare.one_in(3)) options.claims = 2;
         options.takes = options.own_threads && rare.one_in(2);
         options.window_messages = 4U << rare.below(3);
         options.faults = {.crashes = 3,
                           .pauses = 2,
                           .partitions = static_cast<std::uint32_t>(rare.below(2)),
                           .one_way_cuts = static_cast<std::uint32_t>(rare.below(2)),
                           .broken_links = 2,
                           .leaves = 2,
                           .stuck = static_cast<std::uint32_t>(rare.below(3)),
                           .in_changes = 2,
                           .ends = options.seed % 4 == 0};
         if (options.hosts != 1) return;
         options.interrupts = {.one_in = 1U << rare.below(4),
                               .most_ns = options.net.delay_ns << rare.below(4),
                               .pauses = static_cast<std::uint32_t>(rare.below(3)),
                               .deaths = static_cast<std::uint32_t>(rare.below(2))};
       }},
  };
}

}  // namespace tutti::sim
