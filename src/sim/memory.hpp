/// \file memory.hpp
/// A Memory for the protocol's code (sst/memory.hpp). Between any two loads of one step it lets
/// remote writes land, as a NIC does, and other members run, as other processors of the host do
/// (sim/interrupts.hpp).
#pragma once
#include <cstddef>
#include <cstdint>

#include "sim/net.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {

struct Memory {
  Net* net = nullptr;
  std::uint32_t reader = 0;  ///< slot

  [[nodiscard]] std::uint64_t load(const std::byte* cell) const {
    net->before_load(reader);
    net->look(reader, cell);
    return NativeMemory::load(cell);
  }
  void store(std::byte* cell, std::uint64_t value) const {
    net->around_store(reader);
    store_cell(cell, value);
    net->around_store(reader);
  }
};

}  // namespace tutti::sim
