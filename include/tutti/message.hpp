/// \file message.hpp
/// A delivered message, in place in the sender's ring buffer: no copy is made for the receiver.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include "tutti/types.hpp"

namespace tutti {

/// The largest GroupOptions::alignment.
inline constexpr std::size_t kAlignmentMax = 4096;

/// Valid only during the delivery callback: afterwards the sender may use the space again. (If the
/// process is stopped during a callback, see Group::intact.)
struct Message {
  SeqNo seq;              ///< its number in the group's sequence
  const std::byte* data;  ///< aligned to GroupOptions::alignment
  std::uint32_t size;     ///< in bytes, may be 0
  MemberIndex sender;     ///< in Group::members()
  Ticket ticket;          ///< what this member's commit() returned; 0 if another member sent it
  std::uint64_t view;     ///< the view in which it is delivered, see ViewChange::view

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data, size}; }
  /// The T that was sent with Group::emplace, in place; null if the size is another one's, or the
  /// data happens not to lie as T must: where the group's alignment is less than that of T.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignmentMax)
  [[nodiscard]] const T* as() const {
    if constexpr (alignof(T) > 8) {
      if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) return nullptr;
    }
    return size == sizeof(T) ? std::launder(reinterpret_cast<const T*>(data)) : nullptr;
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
