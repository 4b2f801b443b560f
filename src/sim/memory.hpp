/// \file memory.hpp
/// A Memory for the protocol's code (sst/memory.hpp) that lets remote writes land between any two
/// loads of one step, as a NIC does.
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
    net->look(reader, cell);
    net->land_some(reader);
    return NativeMemory::load(cell);
  }
  void store(std::byte* cell, std::uint64_t value) const { store_cell(cell, value); }
};

}  // namespace tutti::sim
