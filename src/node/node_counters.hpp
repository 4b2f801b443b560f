/// \file node_counters.hpp
/// What a node counts of its fabric and its loop, copied so that other threads may read it, also
/// while a start that is tried again replaces the incarnation.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

#include "fabric/fabric.hpp"
#include "predicates/predicate_loop.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

class NodeCounters {
 public:
  /// The predicate thread.
  void save(const FabricCounters& fabric, const PredicateLoop& loop) {
    const std::array<std::uint64_t, kCounters> now{
        fabric.writes,    fabric.bytes,  fabric.doorbells,     fabric.posting_ns,
        fabric.signalled, loop.passes(), loop.working_passes()};
    for (std::size_t i = 0; i < kCounters; ++i) saved_[i].store(now[i], std::memory_order_relaxed);
  }

  /// Any thread. Without NodeStatistics::sleeps.
  [[nodiscard]] NodeStatistics get() const {
    const auto count = [this](std::size_t i) { return saved_[i].load(std::memory_order_relaxed); };
    NodeStatistics out;
    out.writes_posted = count(0);
    out.bytes_posted = count(1);
    out.doorbells = count(2);
    out.posting_ns = count(3);
    out.signalled_writes = count(4);
    out.passes = count(5);
    out.working_passes = count(6);
    return out;
  }

 private:
  static constexpr std::size_t kCounters = 7;
  std::array<std::atomic<std::uint64_t>, kCounters> saved_{};
};

}  // namespace tutti
