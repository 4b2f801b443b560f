/// \file memory.hpp
/// A Memory for the protocol's code (sst/memory.hpp) that lets remote writes land between any two
/// loads of one step, as a NIC does.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sst/memory.hpp"

namespace tutti::sim {

class Net;

struct Memory {
  Net* net = nullptr;
  std::uint32_t reader = 0;  ///< slot

  [[nodiscard]] std::uint64_t load(const std::byte* cell) const {
    land_some();
    return NativeMemory::load(cell);
  }

 private:
  void land_some() const;
};

}  // namespace tutti::sim
