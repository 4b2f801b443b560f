/// \file bounds.hpp
/// How far the delivery of a group may go, per sender: written by the predicate thread, read by
/// whichever thread delivers.
///
/// `known` rounds have a settled content (a record or a null), `stable` rounds may be delivered,
/// `records` are in the ring, of which the view's first starts at granule `base`. Delivery runs
/// while the bounds are open. They are final once they are those of the view's end: then `records`
/// come before it, and those behind them are nulls to everybody. Invariant N1: base and records are
/// raised before known, and known before stable. So a reader that loads them in the opposite order
/// never takes a record that it has not been told of for a null. N2: the final bounds are set while
/// they are closed and nobody reads them (Subgroup::end), for they may have fewer records than
/// those before. N3: moves() grows after each change that may let more be delivered.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/assert.hpp"
#include "sst/sender_index.hpp"
#include "sst/sent_word.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

struct SenderBounds {
  std::uint64_t records = 0;
  std::uint64_t known = 0;
  std::uint64_t stable = 0;
  std::uint32_t base = 0;
};

class Bounds {
 public:
  explicit Bounds(std::size_t senders) : cells_(senders) {}

  void set(SenderIndex sender, const SenderBounds& bounds) {
    Cell& cell = cells_[sender];
    const std::uint64_t rounds = bounds.known - cell.known.load(std::memory_order_relaxed);
    const std::uint64_t records = bounds.records - cell.records.load(std::memory_order_relaxed);
    // Nulls need only be known. Records wait until they are stable: to wake whoever takes them
    // before that would be in vain, at each member and for each message.
    const bool moves =
        cell.stable.load(std::memory_order_relaxed) != bounds.stable || rounds != records;
    cell.base.store(bounds.base, std::memory_order_relaxed);
    // Release: each pairs with its acquire load in get(), which sees what was stored before (N1).
    // get() may see records before known: then the headers of those records are there as well.
    cell.records.store(bounds.records, std::memory_order_release);
    cell.known.store(bounds.known, std::memory_order_release);
    cell.stable.store(bounds.stable, std::memory_order_release);
    if (moves) count_move();
  }

  [[nodiscard]] SenderBounds get(SenderIndex sender) const {
    const Cell& cell = cells_[sender];
    SenderBounds bounds;
    bounds.stable = cell.stable.load(std::memory_order_acquire);
    bounds.known = cell.known.load(std::memory_order_acquire);
    bounds.records = cell.records.load(std::memory_order_acquire);
    bounds.base = cell.base.load(std::memory_order_relaxed);
    TUTTI_ASSERT(bounds.stable <= bounds.known, bounds.stable, bounds.known, sender);  // N1
    return bounds;
  }

  /// Every member has all that comes before this position. Messages of Service::safe wait for it,
  /// but not once the bounds are final: every member that goes on has what comes before the end.
  void set_safe(std::uint64_t position) {
    const bool moves = safe_.load(std::memory_order_relaxed) != position;
    safe_.store(position, std::memory_order_release);
    if (moves) count_move();
  }
  [[nodiscard]] std::uint64_t safe() const { return safe_.load(std::memory_order_acquire); }

  /// At Level::durable, in the group's numbers: messages from this one on are not on all disks yet
  /// (FO2). They wait, also once the bounds are final.
  void set_durable(std::uint64_t seq) {
    const bool moves = durable_.load(std::memory_order_relaxed) != seq;
    durable_.store(seq, std::memory_order_release);
    if (moves) count_move();
  }
  [[nodiscard]] std::uint64_t durable() const { return durable_.load(std::memory_order_acquire); }

  // All in one order: either the thread that delivers sees that the bounds are closed, or the one
  // that has closed them sees that the other is reading (N2).
  void open() {
    open_.store(true, std::memory_order_seq_cst);
    count_move();
  }
  void close() { open_.store(false, std::memory_order_seq_cst); }
  [[nodiscard]] bool is_open() const { return open_.load(std::memory_order_seq_cst); }

  /// Before they are opened again.
  void make_final() {
    TUTTI_ASSERT(!is_open() && !is_final());  // N2
    final_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_final() const { return final_.load(std::memory_order_relaxed); }

  /// Grows whenever more may be delivered than before. A reader that loads it before the bounds,
  /// and finds nothing to deliver, has nothing to look for until it has grown (N3).
  [[nodiscard]] std::uint64_t moves() const { return moves_.load(std::memory_order_acquire); }

 private:
  // N3: after the change. Only the predicate thread counts.
  void count_move() {
    moves_.store(moves_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  struct Cell {
    std::atomic<std::uint64_t> records{0};
    std::atomic<std::uint64_t> known{0};
    std::atomic<std::uint64_t> stable{0};
    std::atomic<std::uint32_t> base{0};
  };
  IndexedBy<SenderIndex, Cell> cells_;
  std::atomic<std::uint64_t> safe_{0};
  std::atomic<std::uint64_t> durable_{~0ULL};
  std::atomic<bool> open_{true};
  std::atomic<bool> final_{false};
  std::atomic<std::uint64_t> moves_{0};
};

}  // namespace tutti
