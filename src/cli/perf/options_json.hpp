/// \file options_json.hpp
/// PerfOptions as JSON and back, for the files that convert them.
#pragma once
#include <nlohmann/json.hpp>

#include "cli/perf/options.hpp"

namespace tutti::cli {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RingWindows, personal, accelerated, global, gap)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LogPlace, logged, durable_quorum, state_dir)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PerfOptions, members, senders, active, size_bytes, messages,
                                   seconds, warmup_s, fabric, rdma_device, level, log, order,
                                   windows, window_bytes, window_messages, groups, active_groups,
                                   rate, touch, service, quiet_topics, source_timestamps, idle,
                                   idle_spin_us, idle_yield_us, drive, delivery, pause_us, pausing,
                                   in_flight, sample_every, spin, pin, numa_node, verify,
                                   start_timeout_s, suspect_after_s)

}  // namespace tutti::cli
