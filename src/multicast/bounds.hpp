/// \file bounds.hpp
/// How far the delivery of a group may go, per sender: written by the predicate thread, read by
/// whichever thread delivers.
///
/// `known` rounds have a settled content (a record or a null), `stable` rounds may be delivered,
/// `records` are in the ring, of which the view's first starts at granule `base`. Records of rounds
/// from `drop_from` on are nulls to everybody: the view ended without them.
/// Invariant N1: base and records are raised before known, known before stable, and drop_from is
/// lowered before known is raised over it. So a reader that loads them in the opposite order never
/// takes a record that it has not been told of for a null, nor delivers one that is dropped.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "sst/sent_word.hpp"

namespace tutti {

struct SenderBounds {
  std::uint64_t records = 0;
  std::uint64_t known = 0;
  std::uint64_t stable = 0;
  std::uint32_t base = 0;
  std::uint64_t drop_from = kNoRound;
};

class Bounds {
 public:
  explicit Bounds(std::size_t senders) : cells_(senders) {}

  void set(std::size_t sender, const SenderBounds& bounds) {
    Cell& cell = cells_[sender];
    cell.base.store(bounds.base, std::memory_order_relaxed);
    cell.drop_from.store(bounds.drop_from, std::memory_order_relaxed);
    // Release: each pairs with its acquire load in get(), which sees what was stored before (N1).
    // get() may see records before known: then the headers of those records are there as well.
    cell.records.store(bounds.records, std::memory_order_release);
    cell.known.store(bounds.known, std::memory_order_release);
    cell.stable.store(bounds.stable, std::memory_order_release);
  }

  [[nodiscard]] SenderBounds get(std::size_t sender) const {
    const Cell& cell = cells_[sender];
    SenderBounds bounds;
    bounds.stable = cell.stable.load(std::memory_order_acquire);
    bounds.known = cell.known.load(std::memory_order_acquire);
    bounds.records = cell.records.load(std::memory_order_acquire);
    bounds.base = cell.base.load(std::memory_order_relaxed);
    bounds.drop_from = cell.drop_from.load(std::memory_order_relaxed);
    return bounds;
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> records{0};
    std::atomic<std::uint64_t> known{0};
    std::atomic<std::uint64_t> stable{0};
    std::atomic<std::uint64_t> drop_from{kNoRound};
    std::atomic<std::uint32_t> base{0};
  };
  std::vector<Cell> cells_;
};

}  // namespace tutti
