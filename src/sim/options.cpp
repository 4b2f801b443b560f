#include "sim/options.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/prng.hpp"
#include "tutti/options.hpp"

namespace tutti::sim {
namespace {

template <std::size_t n>
std::uint64_t one_of(Prng& random, const std::array<std::uint64_t, n>& choices) {
  return choices[random.below(n)];
}

Faults draw_faults(Prng& random) {
  Faults faults;
  const auto some = [&random](std::uint32_t most) {
    return !random.one_in(3) ? 0 : static_cast<std::uint32_t>(1 + random.below(most));
  };
  faults.crashes = some(4);
  faults.pauses = some(4);
  faults.partitions = some(3);
  faults.one_way_cuts = some(3);
  faults.broken_links = some(3);
  faults.leaves = some(3);
  faults.lost_doorbells_percent = random.one_in(3) ? some(30) : 0;
  faults.silent_crashes = random.one_in(3);
  faults.late_writes = random.one_in(2);
  faults.restarts = !random.one_in(8);
  faults.in_changes = some(6);
  faults.standstills = some(2);
  return faults;
}

}  // namespace

Options options_from(std::uint64_t seed) {
  Prng random(seed ^ 0x7475747469ULL);
  Options options;
  options.seed = seed;
  // Two or less lose their majority with the first one lost, and there is no more to be seen.
  options.nodes = static_cast<std::uint32_t>(random.one_in(10) ? 2 : 3 + random.below(5));
  options.founders = static_cast<std::uint32_t>(
      random.one_in(3) ? options.nodes - random.below(options.nodes / 2) : options.nodes);
  options.hosts = random.one_in(3) ? static_cast<std::uint32_t>(1 + random.below(options.nodes))
                                   : options.nodes;
  options.groups = random.one_in(3) ? 2 : 1;
  options.level =
      random.one_in(4) ? (random.one_in(2) ? Level::agreed : Level::unordered) : Level::atomic;
  options.window_messages = static_cast<std::uint32_t>(1U << (1 + random.below(5)));
  const std::uint64_t delay = one_of<4>(random, {500, 2'000, 20'000, 500'000});
  options.net.delay_ns = delay;
  options.net.jitter_ns = delay * one_of<4>(random, {0, 1, 3, 10});
  options.net.slow_one_in = random.one_in(3) ? 50 : 0;
  options.net.landing_ns = 1 + random.below(delay);
  options.step_ns = 1 + random.below(std::max<std::uint64_t>(delay / 2, 1));
  const std::uint64_t unit = delay + options.net.jitter_ns;
  options.send_every_ns = unit * one_of<4>(random, {1, 4, 10, 40});
  options.heartbeat_ns = 10 * unit;
  options.suspect_after_ns = options.heartbeat_ns * one_of<3>(random, {6, 10, 20});
  options.poll_ns = options.heartbeat_ns * 2;
  options.faults = draw_faults(random);
  options.fault_ns = 200 * delay + 16 * options.suspect_after_ns;
  options.calm_ns = 400 * delay + 24 * options.suspect_after_ns;
  if (random.one_in(3)) {
    options.faults.failpoint = kFailpoints[random.below(kFailpoints.size())].first;
    options.faults.failpoint_times = static_cast<std::uint32_t>(1 + random.below(2));
    options.faults.failpoint_after = static_cast<std::uint32_t>(random.below(12));
  }
  options.learn_within_ns = one_of<4>(random, {0, 0, 4 * unit, options.suspect_after_ns});
  options.net.early_one_in = static_cast<std::uint32_t>(random.one_in(2) ? 1 + random.below(4) : 0);
  options.net.torn = random.one_in(2);
  options.faults.flaps = static_cast<std::uint32_t>(random.one_in(4) ? 1 + random.below(3) : 0);
  options.faults.lies = static_cast<std::uint32_t>(random.one_in(4) ? 1 + random.below(3) : 0);
  options.own_threads = random.one_in(4);
  options.faults.stuck = static_cast<std::uint32_t>(random.one_in(4) ? 1 + random.below(6) : 0);
  options.states.save_ns = one_of<3>(random, {0, unit, 2 * options.suspect_after_ns});
  options.states.piece_ns = unit * one_of<3>(random, {0, 1, 4});
  options.disk = {.sync_ns = unit * one_of<4>(random, {0, 1, 2, 6}),
                  .slow_one_in = static_cast<std::uint32_t>(one_of<3>(random, {0, 40, 8})),
                  .slow_ns = options.suspect_after_ns * one_of<3>(random, {1, 2, 4}),
                  .room = static_cast<std::uint32_t>(1U << random.below(7))};
  return options;
}

bool orderly(const Options& options) {
  const Faults& faults = options.faults;
  return options.net.slow_one_in == 0 && faults.lost_doorbells_percent == 0 &&
         faults.crashes + faults.pauses + faults.partitions + faults.one_way_cuts + faults.muted +
                 faults.flaps + faults.broken_links + faults.lies + faults.in_changes +
                 faults.newcomers + faults.successors + faults.splits + faults.hushes +
                 faults.disorders ==
             0 &&
         !faults.lone && faults.failpoint == Failpoint::none && options.interrupts.pauses == 0 &&
         options.interrupts.deaths == 0;
}

bool has_logs(const Options& options) { return options.logged || options.level == Level::durable; }

std::uint64_t write_ns(const Options& options) {
  if (!has_logs(options)) return 0;
  const DiskOptions& disk = options.disk;
  return 2 * (std::max(disk.sync_ns, disk.slow_one_in != 0 ? disk.slow_ns : 0) + options.step_ns);
}

bool harmless(const Options& options) { return orderly(options) && options.faults.leaves == 0; }

std::string to_string(const Options& options) {
  std::ostringstream out;
  const Faults& faults = options.faults;
  if (options.own_threads) out << (options.takes ? "batches taken, " : "own delivery threads, ");
  if (options.litmus_rounds != 0) out << "trials of " << options.litmus_rounds << " rounds, ";
  if (options.parts) out << "groups of some nodes, ";
  if (options.spaces != 0) out << options.spaces << " groups at run time, ";
  if (options.look_every_ns != 0) out << "a look in " << options.look_every_ns << " ns, ";
  if (options.claims != 0) out << "up to " << options.claims << " claims open, ";
  if (options.handler_one_in != 0) out << "handlers 1/" << options.handler_one_in << ", ";
  if (options.tick_every_ns != 0) out << "ticks each " << options.tick_every_ns << " ns, ";
  if (has_logs(options)) {
    out << "logs of up to " << options.disk.room << ", sync in " << options.disk.sync_ns
        << " ns, slow 1/" << options.disk.slow_one_in << " in " << options.disk.slow_ns << " ns, ";
  }
  if (options.durable_quorum) out << "durable by a majority, ";
  if (options.restarted) out << "restarted, ";
  if (options.barrier_one_in != 0) out << "barriers 1/" << options.barrier_one_in << ", ";
  if (options.request_one_in != 0) {
    out << "requests 1/" << options.request_one_in << " up to " << options.request_max_bytes
        << " bytes, ";
  }
  if (const InterruptOptions& stops = options.interrupts; stops.one_in != 0) {
    out << "passes stop 1/" << stops.one_in << " for " << stops.most_ns << " ns, " << stops.pauses
        << " for long, " << stops.deaths << " for good, ";
  }
  if (options.message_max_bytes != Options{}.message_max_bytes) {
    out << "messages up to " << options.message_max_bytes << " bytes in rings of "
        << options.window_bytes << ", " << options.burst << " at once, ";
  }
  if (options.alignment != Options{}.alignment) out << "aligned to " << options.alignment << ", ";
  if (options.order != Order::round_robin) out << tutti::to_string(options.order) << ", ";
  out << "nodes " << options.nodes << " (" << options.founders << " found, " << options.hosts
      << " hosts), groups " << options.groups << ", " << tutti::to_string(options.level)
      << ", window " << options.window_messages << ", delay " << options.net.delay_ns << "+"
      << options.net.jitter_ns << " ns, slow 1/" << options.net.slow_one_in << ", early writes 1/"
      << options.net.early_one_in << ", step " << options.step_ns << " ns, send every "
      << options.send_every_ns << " ns, suspect after " << options.suspect_after_ns
      << " ns, learn within " << options.learn_within_ns << " ns, save within "
      << options.states.save_ns << " ns, a piece " << options.states.piece_ns << " ns; faults:";
  const auto tell = [&out](std::string_view name, std::uint32_t value) {
    if (value != 0) out << ' ' << name << ' ' << value;
  };
  tell("any order", options.net.ordering == Ordering::none ? 1 : 0);
  tell("torn", options.net.torn ? 1 : 0);
  tell("crashes", faults.crashes);
  tell("pauses", faults.pauses);
  tell("standstills", faults.standstills);
  tell("partitions", faults.partitions);
  tell("one-way cuts", faults.one_way_cuts);
  tell("muted", faults.muted);
  tell("flaps", faults.flaps);
  tell("broken links", faults.broken_links);
  tell("lies", faults.lies);
  tell("leaves", faults.leaves);
  tell("stuck", faults.stuck);
  tell("lingers", faults.lingers);
  tell("in changes", faults.in_changes);
  tell("newcomers", faults.newcomers);
  tell("successors", faults.successors);
  tell("hasty", faults.hasty ? 1 : 0);
  tell("lone", faults.lone ? 1 : 0);
  tell("splits", faults.splits);
  tell("ends", faults.ends ? 1 : 0);
  tell("hushes", faults.hushes);
  tell("disorders", faults.disorders);
  if (faults.failpoint != Failpoint::none) {
    out << ' ' << faults.failpoint_times << " die " << to_string(faults.failpoint) << " after "
        << faults.failpoint_after;
  }
  tell("lost doorbells %", faults.lost_doorbells_percent);
  tell("silent", faults.silent_crashes ? 1 : 0);
  tell("late writes", faults.late_writes ? 1 : 0);
  tell("restarts", faults.restarts ? 1 : 0);
  return out.str();
}

}  // namespace tutti::sim
