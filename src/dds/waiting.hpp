/// \file waiting.hpp
/// Deadlines of calls that wait, and what they have in common: records that a participant sends for
/// itself.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>

#include "dds/record.hpp"
#include "node/clock.hpp"
#include "tutti/group.hpp"

namespace tutti::dds {

[[nodiscard]] inline std::chrono::steady_clock::time_point deadline_in(
    std::chrono::nanoseconds timeout) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds longest = std::chrono::steady_clock::time_point::max() - now;
  return now + std::clamp(timeout, std::chrono::nanoseconds(0), longest);
}

[[nodiscard]] inline std::chrono::nanoseconds time_until(
    std::chrono::steady_clock::time_point deadline) {
  const std::chrono::nanoseconds left = deadline - std::chrono::steady_clock::now();
  return std::max(left, std::chrono::nanoseconds(0));
}

/// Waits until `holds` does, or the deadline (false). `changed` is notified when it may, with the
/// mutex of `lock` taken before. With Drive::caller nobody else drives the node: so it is turned
/// between. An error once the node has ended.
template <class Holds>
[[nodiscard]] Result<bool> await(Group& group, std::condition_variable& changed,
                                 std::unique_lock<std::mutex>& lock,
                                 std::chrono::steady_clock::time_point deadline,
                                 const Holds& holds) {
  constexpr std::chrono::milliseconds kSlice{1};
  constexpr Ticket kNoMessage{~0ULL >> 1};  // no message has it: wait() only drives
  while (true) {
    const auto slice = std::min(deadline, std::chrono::steady_clock::now() + kSlice);
    if (changed.wait_until(lock, slice, holds)) return true;
    if (time_until(deadline).count() == 0) return false;
    lock.unlock();
    const Result<void> turned =
        group.wait(kNoMessage, std::min<std::chrono::nanoseconds>(time_until(deadline), kSlice));
    lock.lock();
    if (holds()) return true;
    if (!turned && turned.error().code != ErrorCode::timed_out) {
      return std::unexpected(turned.error());
    }
  }
}

/// Of a record that is made now.
[[nodiscard]] inline RecordHeader header_of(RecordKind kind, std::uint32_t topic) {
  return {static_cast<std::uint8_t>(kind), 0, sizeof(RecordHeader), topic, time_of_day_ns()};
}

/// Waits for space.
[[nodiscard]] inline Result<Ticket> send_record(Group& group, const RecordHeader& header,
                                                std::span<const std::byte> payload,
                                                std::chrono::steady_clock::time_point deadline) {
  Result<Claim> space =
      group.claim(static_cast<std::uint32_t>(sizeof header + payload.size()), time_until(deadline));
  if (!space) return std::unexpected(std::move(space.error()));
  write_header(space->data(), header);
  if (!payload.empty()) {
    std::memcpy(space->data() + sizeof header, payload.data(), payload.size());
  }
  return group.commit(std::move(*space));
}

}  // namespace tutti::dds
