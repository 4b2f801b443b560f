/// \file options.hpp
/// The options of a measurement. The parent reads them from the command line and passes them to its
/// members as JSON (options_json.hpp); the result has them as well.
#pragma once
#include <cstdint>
#include <string>

#include "cli/cli11_fwd.hpp"
#include "cli/common_options.hpp"
#include "tutti/options.hpp"

namespace tutti::cli {

struct PerfOptions {
  std::uint32_t members = 3;
  std::string senders = "all";  ///< all, half, one or a number: declared as senders of the group
  std::string active = "all";   ///< the same, of the senders: those that really send
  std::uint64_t size_bytes = 1024;
  std::uint64_t messages = 0;  ///< per active sender and group; 0: by time
  double seconds = 2;          ///< measured time, if messages is 0
  double warmup_s = 0.5;
  std::string fabric = "auto";
  std::string rdma_device{};  ///< of each member's host
  std::string level = "atomic";
  std::string service{};           ///< of topics; empty: plain groups, with `level`
  std::uint32_t quiet_topics = 0;  ///< beside those of the load, in the first group
  bool source_timestamps = true;   ///< of samples
  LogPlace log{};  ///< each member logs in its own folder in that one; empty: a temporary one
  std::string order = "round_robin";
  RingWindows windows{};
  std::uint64_t window_bytes = GroupOptions{}.window_bytes;
  std::uint32_t window_messages = GroupOptions{}.window_messages;
  std::uint32_t groups = 1;
  std::uint32_t active_groups = 0;  ///< those that are sent to; 0: all
  double rate = 0;                  ///< messages per second, sender and group; 0: no limit
  std::string touch = "all";        ///< all or header: what receivers read
  std::string idle = "sleep";
  double idle_spin_us = -1;            ///< < 0: as --idle has it
  double idle_yield_us = -1;           ///< < 0: as --idle has it
  std::string drive = "own";           ///< own or caller
  std::string delivery = "predicate";  ///< predicate, own, application, epoll or asio
  double pause_us = 0;                 ///< after each send of a pausing sender
  std::uint32_t pausing = 0;           ///< how many of the active senders pause
  std::uint32_t in_flight = 0;         ///< own messages under way at most; 0: what the window holds
  std::uint32_t sample_every = 0;      ///< which messages carry a time stamp; 0: chosen by load
  bool spin = false;                   ///< callers spin instead of yielding
  bool pin = false;                    ///< each member stays on one processor
  std::int64_t numa_node = -1;         ///< that each member stays on; < 0: any
  bool verify = false;
  double start_timeout_s = 30;
  double suspect_after_s = 1;
};

/// The options that `perf multicast` and `perf idle` share.
void add_common_perf_options(CLI::App& command, PerfOptions& options, const char* about_order);
/// Those of `perf multicast` and `perf topic`, but not of `perf idle`.
void add_load_options(CLI::App& command, PerfOptions& options);
/// Those of `perf multicast` alone.
void add_multicast_options(CLI::App& command, PerfOptions& options);
/// Those of `perf topic` alone.
void add_topic_options(CLI::App& command, PerfOptions& options);

}  // namespace tutti::cli
