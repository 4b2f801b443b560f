/// \file clock.hpp
/// Time stamps of samples, deadlines of calls that wait, and what they have in common: records that
/// a participant sends for itself.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>

#include "dds/record.hpp"
#include "tutti/group.hpp"

namespace tutti::dds {

/// Nanoseconds since 1970.
[[nodiscard]] inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

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
