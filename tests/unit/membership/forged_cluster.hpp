/// \file forged_cluster.hpp
/// A few members over shared rows, passed by hand.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

#include "support/forged_node.hpp"

namespace tutti::testing {

/// All nodes are founders but the last `joining`, which are connected to nobody.
template <class Memory>
class ForgedClusterOver {
 public:
  /// Each node reads through the memory, which is told its slot if it asks for that.
  explicit ForgedClusterOver(std::uint32_t count, std::uint32_t joining = 0, Memory memory = {},
                             bool stateless = false)
      : ForgedClusterOver(sim::make_plan(count, {forged_group()}), joining, memory, stateless) {}

  ForgedClusterOver(sim::Plan of, std::uint32_t joining, Memory memory, bool stateless)
      : plan(std::move(of)) {
    const std::uint32_t count = plan.rows.nodes();
    for (std::uint32_t slot = 0; slot < count; ++slot) rows.emplace_back(plan.rows.row_bytes());
    plan.founders = count - joining;
    plan.stateless = stateless;
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      if constexpr (requires { memory.reader; }) memory.reader = Slot{slot};
      nodes.emplace_back(plan, slot, rows, memory);
    }
    std::vector<std::uint32_t> founders;
    for (std::uint32_t slot = 0; slot < plan.founders; ++slot) {
      founders.push_back(slot);
      for (std::uint32_t other = 0; other < plan.founders; ++other) {
        if (other != slot) nodes[slot].membership->ready(Slot{other}, 100 + other);
      }
    }
    run(founders, 5);
  }

  /// So many passes of each of these, in turn.
  void run(const std::vector<std::uint32_t>& who, int passes = 20) {
    for (int i = 0; i < passes; ++i) {
      for (const std::uint32_t slot : who) nodes[slot].pass();
    }
  }

  sim::Plan plan;
  std::vector<AlignedRow> rows;
  std::deque<ForgedNodeOver<Memory>> nodes;
};

using ForgedCluster = ForgedClusterOver<NativeMemory>;

}  // namespace tutti::testing
