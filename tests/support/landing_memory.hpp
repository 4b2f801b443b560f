/// \file landing_memory.hpp
/// A Memory for the protocol code (sst/memory.hpp) that lets the world go on between any two loads
/// of one step: remote writes land, or, where rows are shared, other members run.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fabric/slot.hpp"
#include "sst/memory.hpp"

namespace tutti::testing {

/// What happens between two loads of the member `reader`.
class BetweenLoads {
 public:
  virtual ~BetweenLoads() = default;
  virtual void before_load(Slot reader) = 0;
};

struct LandingMemory {
  BetweenLoads* world = nullptr;  ///< null: nothing happens meanwhile
  Slot reader;

  [[nodiscard]] std::uint64_t load(const std::byte* cell) const {
    if (world != nullptr) world->before_load(reader);
    return NativeMemory::load(cell);
  }
  void store(std::byte* cell, std::uint64_t value) const { store_cell(cell, value); }
};

}  // namespace tutti::testing
