/// \file message.hpp
/// A delivered message, in place in the sender's ring buffer: no copy is made for the receiver. Or
/// one from the log of a group that is logged (GroupOptions::deliver_from), in memory of the node.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "tutti/types.hpp"

namespace tutti {

/// The largest GroupOptions::alignment.
inline constexpr std::size_t kAlignmentMax = 4096;

/// Message::ticket of a tick: no message of a member has it.
inline constexpr Ticket kTickTicket{~0ULL};

/// A tick of the group's clock (GroupOptions::tick_every), which all members deliver at the same
/// place in the sequence.
struct Tick {
  /// Nanoseconds since the Unix epoch, by the system clock of the member that is the group's clock;
  /// at each member more than those of the tick before, but see GroupOptions::tick_every.
  std::uint64_t time_ns = 0;
};

/// Valid only during the delivery callback: afterwards the sender may use the space again. (If the
/// process is stopped during a callback, see Group::intact.)
struct Message {
  SeqNo seq;              ///< its number in the group's sequence
  const std::byte* data;  ///< aligned to GroupOptions::alignment
  std::uint32_t size;     ///< in bytes, may be 0
  MemberIndex sender;     ///< in Group::members()
  Ticket ticket;          ///< what this member's commit() returned; 0 if another member sent it, or
                          ///< if it comes from the log; kTickTicket if no application sent it
  std::uint64_t view;     ///< the view in which it is delivered, see ViewChange::view; of one that
                          ///< comes from the log the view in which it was

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data, size}; }
  /// The T that was sent with Group::emplace, in place; null of a tick, if the size is another
  /// one's, or if the data happens not to lie as T must: where the group's alignment is less than
  /// that of T.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignmentMax)
  [[nodiscard]] const T* as() const {
    if constexpr (alignof(T) > 8) {
      if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) return nullptr;
    }
    if (size != sizeof(T) || ticket == kTickTicket) return nullptr;
    return std::launder(reinterpret_cast<const T*>(data));
  }
  /// Empty but for a tick: that is no message of an application, though it comes in a batch as one.
  [[nodiscard]] std::optional<Tick> tick() const {
    if (ticket != kTickTicket) return {};
    Tick tick;
    std::memcpy(&tick.time_ns, data, sizeof tick.time_ns);
    return tick;
  }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(data), size};
  }
};

/// Takes a batch of messages in delivery order, never an empty one. Runs on the thread that
/// GroupOptions::delivery names, one call at a time per group. It must not throw: if it does, the
/// node fails, and the batch does not count as delivered. Inside it, the same node refuses calls
/// that wait (node.hpp). It may take long: the others go on until the group's window is full, and
/// then wait; no member is removed for it (but see Drive::caller). A batch has all messages that
/// were ready (opportunistic, [Spindle, 3.2]), at most kDeliveryBatchMax.
using DeliveryCallback = std::function<void(std::span<const Message>)>;

/// The largest batch handed to a DeliveryCallback at once.
inline constexpr std::size_t kDeliveryBatchMax = 256;

}  // namespace tutti
