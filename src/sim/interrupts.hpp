/// \file interrupts.hpp
/// Passes that stop between two accesses to rows and go on later: meanwhile other members make a
/// whole pass or a part of one. So other members can change shared rows between two reads of a
/// pass.
///
/// Such a pass runs on a stack of its own. The simulator draws which passes do, before which access
/// they stop and for how long. Threads: one.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/prng.hpp"
#include "sim/fiber.hpp"
#include "sim/net.hpp"
#include "sim/options.hpp"

namespace tutti::sim {

class Interrupts {
 public:
  Interrupts(const InterruptOptions& options, std::uint32_t nodes, Net& net, std::uint64_t seed);

  /// Draws whether a pass may be interrupted; during a change of view this is more likely.
  [[nodiscard]] bool draw(bool changing);
  /// Runs such a pass of the node. True if it is over; else it has stopped for gap_ns().
  [[nodiscard]] bool run(std::uint32_t node, std::function<void()> pass);
  [[nodiscard]] bool go_on(std::uint32_t node);
  /// Runs the rest of the pass without a further stop.
  void finish(std::uint32_t node);
  /// The process has died: drops the rest of the pass.
  void drop(std::uint32_t node);

  [[nodiscard]] bool in_pass(std::uint32_t node) const {
    return passes_[node].fiber != nullptr && passes_[node].fiber->under_way();
  }
  /// How long the pass that stopped last must stand still.
  [[nodiscard]] std::uint64_t gap_ns() const { return gap_ns_; }

 private:
  struct Pass {
    std::unique_ptr<Fiber> fiber{};
    std::uint64_t accesses_left = 0;  // until it stops
    std::uint64_t ns_left = 0;        // for all its stops
  };

  void before_access(std::uint32_t node);
  [[nodiscard]] std::uint64_t draw_accesses();
  [[nodiscard]] bool left(std::uint32_t node);

  const InterruptOptions options_;
  Net& net_;
  Prng random_;
  std::vector<Pass> passes_;  // by node
  std::uint64_t gap_ns_ = 0;
};

}  // namespace tutti::sim
