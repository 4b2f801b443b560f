/// \file stamps.hpp
/// When each message of one's own was sent, by its Ticket: written by the sender before it commits,
/// read at the delivery. A slot is used again long after its message was delivered, because the
/// window holds fewer messages than there are slots.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::cli {

class Stamps {
 public:
  explicit Stamps(std::uint64_t window_messages)
      : stamps_(std::bit_ceil(window_messages) * 2), mask_(stamps_.size() - 1) {}

  // Relaxed: the commit and the delivery of the message order the two sides.
  void set(Ticket ticket, std::int64_t ns) {
    stamps_[ticket.value & mask_].store(ns, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t get(Ticket ticket) const {
    return stamps_[ticket.value & mask_].load(std::memory_order_relaxed);
  }

 private:
  std::vector<std::atomic<std::int64_t>> stamps_;
  const std::uint64_t mask_;
};

}  // namespace tutti::cli
