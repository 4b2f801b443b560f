/// \file options.hpp
/// What a seed determines: the size of the world, its speeds, and how often which faults happen.
///
/// Swarm testing: every seed switches on some of the faults and draws how strong they are, so that
/// rare combinations occur. A failure is printed with its seed and options.
#pragma once
#include <cstdint>
#include <string>

#include "sim/failpoints.hpp"
#include "sim/net_options.hpp"
#include "tutti/types.hpp"

namespace tutti::sim {

/// How often each fault happens in a run, on average, and how strong it is. 0: never.
struct Faults {
  std::uint32_t crashes = 0;
  std::uint32_t pauses = 0;
  std::uint32_t standstills = 0;   ///< all nodes pause at once, as one machine does
  std::uint32_t partitions = 0;    ///< the nodes are split in two parts
  std::uint32_t one_way_cuts = 0;  ///< one link is cut in one direction
  std::uint32_t muted = 0;         ///< only some members hear a sender, which then crashes
  std::uint32_t flaps = 0;         ///< a link is cut and mended several times
  std::uint32_t broken_links = 0;  ///< a connection breaks, both ends notice
  std::uint32_t lies = 0;          ///< a node is wrongly told that it lost another, or all
  std::uint32_t leaves = 0;
  std::uint32_t stuck = 0;       ///< an application does not return from a callback for some time
  std::uint32_t lingers = 0;     ///< a callback takes long, while the node's other threads go on
  std::uint32_t in_changes = 0;  ///< additional faults during changes of view
  std::uint32_t newcomers = 0;   ///< a joiner loses another node just before its first view
  /// A leader is cut off from the member of the next rank, its successor, just as it proposes. When
  /// it has decided, no member hears it any more.
  std::uint32_t successors = 0;
  bool lone = false;         ///< all members leave but one, which crashes while it admits others
  bool hasty = false;        ///< such a successor suspects its leader at once
  std::uint32_t splits = 0;  ///< a node is cut off just after it agreed to found a group
  /// All members finish at about the same time, and end without a word or leave (world_ends.cpp).
  bool ends = false;
  std::uint32_t hushes = 0;               ///< a node that is connected and in no view falls silent
  std::uint32_t disorders = 0;            ///< a path keeps no order of writes (world_outsiders.cpp)
  Failpoint failpoint = Failpoint::none;  ///< a member that gets there crashes
  std::uint32_t failpoint_times = 1;      ///< how many members crash there
  std::uint32_t failpoint_after = 0;      ///< how many get there before and do not crash
  std::uint32_t lost_doorbells_percent = 0;
  bool silent_crashes = false;  ///< no member is told: only heartbeats stop
  bool late_writes = false;     ///< posts of a crashed node land long after the crash
  bool restarts = true;         ///< a node that crashed or was evicted is started again

  friend bool operator==(const Faults&, const Faults&) = default;
};

/// How long an application needs at most.
struct StateTimes {
  std::uint64_t save_ns = 0;   ///< to save a group's state
  std::uint64_t piece_ns = 0;  ///< to read or load a piece of it
};

/// Passes that stop between two accesses to rows (sim/interrupts.hpp).
struct InterruptOptions {
  std::uint32_t one_in = 0;   ///< one pass in so many may stop; 0: none
  std::uint64_t most_ns = 0;  ///< the longest time that a pass stands still
  std::uint32_t pauses = 0;   ///< how many stops last longer than suspect_after
  std::uint32_t deaths = 0;   ///< how many stops end with a crash of the process
};

/// The disks on which members have their logs.
struct DiskOptions {
  std::uint64_t sync_ns = 0;      ///< the longest time that a sync takes
  std::uint32_t slow_one_in = 0;  ///< one sync in so many may take slow_ns; 0: none
  std::uint64_t slow_ns = 1;      ///< only while there are faults
  std::uint32_t room = 256;       ///< with so many messages not synced yet, a log takes no more
};

struct Options {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 3;     ///< slots
  std::uint32_t founders = 3;  ///< how many are in the first view; the others join
  std::uint32_t hosts = 3;     ///< nodes of one host share rows
  std::uint32_t groups = 1;
  bool own_threads = false;          ///< groups deliver on threads of their own
  bool takes = false;                ///< ... which are the application's: it takes batches
  Level level = Level::atomic;       ///< of the first group
  Order order = Order::round_robin;  ///< of groups that have one
  std::uint32_t window_messages = 16;
  std::uint32_t message_max_bytes = 200;
  std::uint64_t window_bytes = 4096;
  std::uint32_t alignment = 8;     ///< GroupOptions
  std::uint32_t large_one_in = 4;  ///< one message in so many is of any size, the others are small
  std::uint32_t claims = 0;  ///< how many may be open at a time; they are committed in any order
  bool parts = false;  ///< groups have only some nodes as members, and some of those as senders
  std::uint32_t handler_one_in = 0;     ///< for one message in so many, and for space; 0: none
  std::uint32_t barrier_one_in = 0;     ///< instead of one message in so many, a barrier; 0: none
  std::uint32_t request_one_in = 0;     ///< instead of one message in so many, a request; 0: none
  std::uint32_t request_max_bytes = 0;  ///< NodeOptions
  std::uint64_t tick_every_ns = 0;      ///< GroupOptions; clocks differ by up to 64 times that
  /// Groups at Level::atomic are logged, some of them, but the first, at Level::durable instead.
  bool logged = false;
  bool durable_quorum = false;  ///< GroupOptions, of the groups at Level::durable
  DiskOptions disk{};
  bool restarted = false;    ///< some of the nodes found a later view than the first (restarts.hpp)
  std::uint32_t spaces = 0;  ///< of groups that members join and leave while they run
  std::uint32_t burst = 1;   ///< how many messages are sent at once, also in a change of view
  std::uint32_t litmus_rounds = 0;  ///< NodeOptions
  NetOptions net{};
  std::uint64_t step_ns = 500;          ///< a pass takes at most so long, without its stops
  std::uint64_t send_every_ns = 5'000;  ///< per node, on average
  std::uint64_t heartbeat_ns = 40'000;
  std::uint64_t suspect_after_ns = 400'000;
  std::uint64_t poll_ns = 200'000;  ///< a node that sleeps wakes up at least so often
  /// While a view does not change, passes skip the membership for so long, except the last pass
  /// before a node sleeps.
  std::uint64_t look_every_ns = 0;
  /// Each end of a connection learns of it after at most so long.
  std::uint64_t learn_within_ns = 0;
  StateTimes states{};
  InterruptOptions interrupts{};
  std::uint64_t fault_ns = 2'000'000;  ///< how long there are faults
  std::uint64_t calm_ns = 4'000'000;   ///< how long there are none after that
  Faults faults{};
};

/// The same seed gives the same options.
[[nodiscard]] Options options_from(std::uint64_t seed);

/// Whether no member fails, or gives another a reason to believe so; members may leave.
[[nodiscard]] bool orderly(const Options& options);

/// Whether a group may be logged.
[[nodiscard]] bool has_logs(const Options& options);

/// The longest time until what a member writes to its disk is there and it sees so: a sync may be
/// under way. 0 if no group is logged.
[[nodiscard]] std::uint64_t write_ns(const Options& options);

/// Whether no member has a reason to suspect another.
[[nodiscard]] bool harmless(const Options& options);

/// One line for a human reader.
[[nodiscard]] std::string to_string(const Options& options);

}  // namespace tutti::sim
