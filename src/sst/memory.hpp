/// \file memory.hpp
/// The one seam through which protocol code reads cells that another member writes, and stores
/// those that another member on its host may read at that moment.
///
/// A Memory has `uint64_t load(const std::byte* cell)` and `void store(std::byte* cell, uint64_t)`.
/// Production uses NativeMemory; tests and the simulator use one that lands pending remote writes
/// between any two loads, so that a protocol which reads data before its guard is found out; the
/// simulator's also lets other members of the host run between any two of either. Templates over a
/// Memory are defined in .cpp files, which instantiate them for NativeMemory; whoever needs them
/// for another Memory includes those files with TUTTI_DEFINITIONS_ONLY defined, and instantiates
/// them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// Stores a word of our own row, or of a replica. Release: pairs with NativeMemory::load of a
/// member on this host.
inline void store_cell(std::byte* cell, std::uint64_t value) {
  auto* word = reinterpret_cast<std::uint64_t*>(cell);
  std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
}

/// Reads what is there, and stores as store_cell() does.
struct NativeMemory {
  /// Acquire: pairs with the writer's release store of the same word (shm, local) or with the
  /// fabric's release store when it applies a write (tcp): data posted before the word is visible
  /// after the load.
  static std::uint64_t load(const std::byte* cell) {
    auto* word = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(cell));
    return std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_acquire);
  }
  static void store(std::byte* cell, std::uint64_t value) { store_cell(cell, value); }
};

}  // namespace tutti
