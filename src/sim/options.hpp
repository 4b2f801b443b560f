/// \file options.hpp
/// What a seed stands for: the size of the world, its speeds, and which faults happen how often.
///
/// Swarm testing: every seed switches on some of the faults and draws how strong they are, so that
/// rare combinations come up and are printed with the seed that makes them.
#pragma once
#include <cstdint>
#include <string>

#include "sim/failpoints.hpp"
#include "sim/net_options.hpp"
#include "tutti/types.hpp"

namespace tutti::sim {

/// How often in a run, on average, and how strong. 0: never.
struct Faults {
  std::uint32_t crashes = 0;
  std::uint32_t pauses = 0;
  std::uint32_t standstills = 0;   ///< all nodes pause at once, as one machine does
  std::uint32_t partitions = 0;    ///< of the nodes in two parts
  std::uint32_t one_way_cuts = 0;  ///< of one link in one direction
  std::uint32_t muted = 0;         ///< who sends is heard by some only, and then dies
  std::uint32_t flaps = 0;         ///< a link comes and goes several times
  std::uint32_t broken_links = 0;  ///< a connection breaks, both ends notice
  std::uint32_t lies = 0;          ///< a node is told that it lost another, or all, which is not so
  std::uint32_t leaves = 0;
  std::uint32_t stuck = 0;       ///< an application does not return from a callback for some time
  std::uint32_t lingers = 0;     ///< so many callbacks last, while the node's other threads go on
  std::uint32_t in_changes = 0;  ///< more of them, just when members change their view
  std::uint32_t newcomers = 0;   ///< so many that join lose another just before their first view
  /// So many leaders are cut off from the member of the next rank, their successor, just as they
  /// propose. When they have decided, nobody hears them any more.
  std::uint32_t successors = 0;
  bool lone = false;         ///< all leave but one, which dies as it lets others in
  bool hasty = false;        ///< such a successor suspects its leader at once
  std::uint32_t splits = 0;  ///< so many that have just agreed to found a group are parted from it
  /// All members finish, at about the same time, and go without a word, or leave (world_ends.cpp).
  bool ends = false;
  std::uint32_t hushes = 0;     ///< so many that are connected and in no view fall silent
  std::uint32_t disorders = 0;  ///< so many paths keep no order of writes (world_outsiders.cpp)
  Failpoint failpoint = Failpoint::none;  ///< who gets there dies
  std::uint32_t failpoint_times = 1;      ///< so many
  std::uint32_t failpoint_after = 0;      ///< after so many others got there
  std::uint32_t lost_doorbells_percent = 0;
  bool silent_crashes = false;  ///< nobody is told: only heartbeats stop
  bool late_writes = false;     ///< what the dead posted lands long after
  bool restarts = true;         ///< who crashed or was evicted comes back

  friend bool operator==(const Faults&, const Faults&) = default;
};

/// How long an application needs at most.
struct StateTimes {
  std::uint64_t save_ns = 0;   ///< to save a group's state
  std::uint64_t piece_ns = 0;  ///< to read or load a piece of it
};

/// Passes that stop between two accesses to rows (sim/interrupts.hpp).
struct InterruptOptions {
  std::uint32_t one_in = 0;   ///< so many passes may; 0: none
  std::uint64_t most_ns = 0;  ///< a pass stands still so long at most
  std::uint32_t pauses = 0;   ///< so many stops last longer than silence is borne
  std::uint32_t deaths = 0;   ///< so many end in the death of the process
};

struct Options {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 3;     ///< slots
  std::uint32_t founders = 3;  ///< of them, in the first view; the others join
  std::uint32_t hosts = 3;     ///< nodes of one host share rows
  std::uint32_t groups = 1;
  bool own_threads = false;     ///< groups deliver on threads of their own
  Level level = Level::atomic;  ///< of the first group
  std::uint32_t window_messages = 16;
  std::uint32_t message_max_bytes = 200;
  std::uint64_t window_bytes = 4096;
  std::uint32_t large_one_in = 4;  ///< so many messages are of any size, the others small
  std::uint32_t claims = 0;  ///< so many may be open at a time, and are committed in any order
  bool parts = false;        ///< of the nodes are members, and some of those senders, of a group
  std::uint32_t burst = 1;   ///< so many are sent at once, also when a change of view begins
  std::uint32_t litmus_rounds = 0;  ///< NodeOptions
  NetOptions net{};
  std::uint64_t step_ns = 500;          ///< a pass takes at most so long, but for its stops
  std::uint64_t send_every_ns = 5'000;  ///< and node, on average
  std::uint64_t heartbeat_ns = 40'000;
  std::uint64_t suspect_after_ns = 400'000;
  std::uint64_t poll_ns = 200'000;  ///< a node that sleeps looks up at least so often
  /// Passes of a view without a change leave out the membership for so long, but for the last one
  /// before a node sleeps.
  std::uint64_t look_every_ns = 0;
  /// Each end of a connection learns of it so much later at most.
  std::uint64_t learn_within_ns = 0;
  StateTimes states{};
  InterruptOptions interrupts{};
  std::uint64_t fault_ns = 2'000'000;  ///< how long faults happen
  std::uint64_t calm_ns = 4'000'000;   ///< and how long it is calm after that
  Faults faults{};
};

/// The same seed, the same options.
[[nodiscard]] Options options_from(std::uint64_t seed);

/// Nobody fails in it, nor gives another a reason to believe so, but members may leave.
[[nodiscard]] bool orderly(const Options& options);

/// Nothing in it gives anybody a reason to suspect another.
[[nodiscard]] bool harmless(const Options& options);

/// One line, for people.
[[nodiscard]] std::string to_string(const Options& options);

}  // namespace tutti::sim
