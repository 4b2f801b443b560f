/// \file shared_table.hpp
/// The bare shared-table multicast that shared_table.cpp measures: one row per member in shared
/// memory, a ring of fixed slots per sender, round robin order, delivery once all have received.
/// Invariants: ST1 a cell has one writer. ST2 delivered <= least received of all <= what was sent.
/// ST3 a slot is written again only after every member has delivered its message.
/// Threads: one Sender and one Receiver per member, each used by one thread.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "processes.hpp"
#include "ring_shape.hpp"

namespace limits {

struct Shape {
  int members;
  int senders;     // ranks below this number send
  RingShape ring;  // of each sender
  int64_t batch;   // messages delivered between two publications
};

/// A counter with one writer, on lines of its own.
struct alignas(kLineBytes) Cell {
  std::atomic<int64_t> value = 0;

  [[nodiscard]] int64_t get() const { return value.load(std::memory_order_acquire); }  // with set
  void set(int64_t now) { value.store(now, std::memory_order_release); }               // with get
};

struct Row {
  Cell sent;       // messages of this member; written by its Sender, the rest by its Receiver
  Cell received;   // length of the prefix of the common sequence that is here
  Cell delivered;  // length of the prefix that was delivered
  Cell finished;   // 1 once `sent` does not grow any more; written by the Sender
  Cell checksum;   // sum over all delivered messages, set when the member ends
};

struct Control {
  std::atomic<size_t> ready = 0;
  alignas(kLineBytes) std::atomic<bool> stop = false;
};

/// Where things lie in the mapping: the control block, the rows, the rings of all senders.
struct Table {
  Control* control;
  Row* rows;
  std::byte* rings;

  Table(const Shape& shape, std::byte* memory)
      : control(reinterpret_cast<Control*>(memory)),
        rows(reinterpret_cast<Row*>(memory + sizeof(Control))),
        rings(memory + head_bytes(shape)) {}

  [[nodiscard]] static size_t head_bytes(const Shape& shape) {
    const size_t bytes = sizeof(Control) + sizeof(Row) * static_cast<size_t>(shape.members);
    return (bytes + 4095) / 4096 * 4096;
  }

  [[nodiscard]] static size_t bytes(const Shape& shape) {
    return head_bytes(shape) + static_cast<size_t>(shape.senders * shape.ring.bytes());
  }

  /// The least `cell` over all members.
  [[nodiscard]] int64_t least(Cell Row::* cell, int members) const {
    int64_t least = (rows[0].*cell).get();
    for (int rank = 1; rank < members; ++rank) least = std::min(least, (rows[rank].*cell).get());
    return least;
  }

  /// Length of the round robin prefix that all senders have filled.
  [[nodiscard]] int64_t sent_prefix(int senders) const {
    int64_t prefix = INT64_MAX;
    for (int rank = 0; rank < senders; ++rank) {
      prefix = std::min(prefix, rows[rank].sent.get() * senders + rank);
    }
    return prefix;
  }
};

/// Seed of the `index`-th message of `sender`.
[[nodiscard]] inline uint64_t seed_of(int sender, int64_t index) {
  return static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15 + static_cast<uint64_t>(sender);
}

class Sender {
 public:
  Sender(const Shape& shape, const Table& table, int rank)
      : shape_(shape), table_(table), rank_(rank), ring_(table.rings + rank * shape.ring.bytes()) {}

  /// Sends until the ring is full, or `most` messages. Returns how many.
  int64_t send(int64_t most) {
    if (sent_ == room_) {
      const int64_t prefix = table_.least(&Row::delivered, shape_.members);
      room_ = (prefix + shape_.senders - 1 - rank_) / shape_.senders + shape_.ring.slots;  // ST3
    }
    const int64_t begin = sent_;
    const int64_t end = std::min(room_, begin + most);
    Cell& cell = table_.rows[rank_].sent;
    int64_t slot = slot_;
    for (int64_t index = begin; index < end; ++index) {
      fill(ring_ + slot * shape_.ring.stride_bytes, shape_.ring.written_bytes,
           seed_of(rank_, index));
      if (++slot == shape_.ring.slots) slot = 0;
      cell.set(index + 1);
    }
    slot_ = slot;
    sent_ = end;
    return end - begin;
  }

  /// No more messages from here. Call once, after the last send.
  void finish() { table_.rows[rank_].finished.set(1); }

 private:
  const Shape shape_;
  const Table table_;
  const int rank_;
  std::byte* const ring_;
  int64_t slot_ = 0;
  int64_t sent_ = 0;
  int64_t room_ = 0;  // may send below this index without looking
};

class Receiver {
 public:
  Receiver(const Shape& shape, const Table& table, int rank)
      : shape_(shape), table_(table), row_(table.rows[rank]), ring_bytes_(shape.ring.bytes()) {}

  /// Receives and delivers what is there, at most a batch. Returns whether there was anything.
  bool step() {
    const int64_t here = table_.sent_prefix(shape_.senders);
    const bool received = here != received_;
    if (received) row_.received.set(received_ = here);
    const int64_t stable = table_.least(&Row::received, shape_.members);  // ST2
    const int64_t end = std::min(stable, delivered_ + shape_.batch);
    if (end == delivered_) return received;
    deliver_until(end);
    return true;
  }

  /// Whether all senders have finished and all that they sent was delivered here.
  [[nodiscard]] bool done() const {
    for (int rank = 0; rank < shape_.senders; ++rank) {
      if (table_.rows[rank].finished.get() == 0) return false;
    }
    return delivered_ == table_.sent_prefix(shape_.senders);
  }

  /// Call once, when done.
  void finish() { row_.checksum.set(static_cast<int64_t>(checksum_)); }

 private:
  void deliver_until(int64_t end) {
    const std::byte* slot = table_.rings + slot_ * shape_.ring.stride_bytes;
    uint64_t checksum = checksum_;
    int turn = turn_;
    for (int64_t next = delivered_; next < end; ++next) {
      checksum += sum(slot + turn * ring_bytes_, shape_.ring.read_bytes);
      if (++turn < shape_.senders) continue;
      turn = 0;
      slot += shape_.ring.stride_bytes;
      if (++slot_ == shape_.ring.slots) {
        slot_ = 0;
        slot = table_.rings;
      }
    }
    checksum_ = checksum;
    turn_ = turn;
    row_.delivered.set(delivered_ = end);
  }

  const Shape shape_;
  const Table table_;
  Row& row_;
  const int64_t ring_bytes_;
  int turn_ = 0;      // the sender of the next message
  int64_t slot_ = 0;  // and its slot
  int64_t received_ = 0;
  int64_t delivered_ = 0;
  uint64_t checksum_ = 0;
};

}  // namespace limits
