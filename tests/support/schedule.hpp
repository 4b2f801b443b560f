/// \file schedule.hpp
/// Turns a World at random for a while; then nobody sends any more or is slow, and everything must
/// complete (safety first, then liveness).
///
/// What a run is like is drawn from the seed: how many messages, which sizes, how often claims are
/// held open or abandoned, who is slow and by how much.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "support/world.hpp"

namespace tutti::testing {

struct ScheduleOptions {
  std::uint64_t seed = 1;
  std::uint32_t messages_max = 60;      ///< per sender and group
  std::uint32_t actions = 20'000;       ///< of the random part
  std::uint32_t passes_max = 20'000;    ///< liveness: then complete within so many per node
  std::uint32_t slow_factor_max = 200;  ///< the slowest acts once in so many turns of the others
};

class Schedule {
 public:
  Schedule(World& world, const ScheduleOptions& options);

  /// Some random actions. False if all is complete.
  bool act(std::uint32_t actions);
  /// Commits and finishes everything, then turns all nodes alike until complete, or passes_max.
  bool complete();

 private:
  struct Plan {
    std::uint32_t messages = 0;  // still to claim
    bool finishes_early = false;
  };

  void act_once();
  void act_as_sender(World::Part& part, Plan& plan);
  void commit_some(World::Part& part);
  [[nodiscard]] std::uint32_t draw_size(const World::Part& part);

  World& world_;
  ScheduleOptions options_;
  Prng random_;
  std::vector<Plan> plans_;                   // by part
  std::vector<std::uint32_t> node_one_in_;    // by node: its loop turns once in so many actions
  std::vector<std::uint32_t> thread_one_in_;  // by part: its delivery thread
  std::uint32_t hold_one_in_;
  std::uint32_t abandon_one_in_;
  std::uint32_t burst_max_;
  std::uint32_t size_kind_;
};

/// A world and a schedule from one seed, run to the end. Returns what was wrong, empty if nothing.
[[nodiscard]] std::string run_to_the_end(const WorldOptions& world, ScheduleOptions schedule = {});

}  // namespace tutti::testing
