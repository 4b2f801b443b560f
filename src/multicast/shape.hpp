/// \file shape.hpp
/// What the multicast of one group needs to know of its view: who is who, and where their cells
/// are. Fixed while the view lasts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tutti/types.hpp"

namespace tutti {

/// A joiner learns it from those that know it (ControlWords::kFirstSeq).
inline constexpr std::uint64_t kUnknownSeq = ~0ULL;

inline constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

/// Of the order token_ring, in messages; GroupOptions says what they are.
struct TokenWindows {
  std::uint32_t personal = 0;
  std::uint32_t global = 0;
  std::uint32_t accelerated = 0;
  std::uint32_t gap = 0;
};

struct GroupShape {
  std::uint64_t view = 0;                          ///< the epoch of its control blocks (L3)
  std::uint32_t self = 0;                          ///< own rank in the group
  std::uint32_t own_sender = kNobody;              ///< own index among the senders, if one
  std::vector<std::uint32_t> sender_ranks;         ///< rank in the group, by sender index
  std::vector<MemberIndex> sender_ids;             ///< what Message::sender says, likewise
  std::vector<const std::byte*> member_controls;   ///< control block, by rank in the group
  std::vector<const std::byte*> sender_rings;      ///< ring, by sender index
  std::vector<const std::byte*> sender_reclaimed;  ///< GroupOffsets::reclaimed, by sender index
  /// Our replica of that ring, by sender index; null where it is the sender's own (shared memory).
  std::vector<std::byte*> sender_replicas;
  std::vector<const std::byte*> member_areas;  ///< pass area, by rank; empty but at Level::agreed
  std::byte* own_area = nullptr;               ///< member_areas[self], writable
  std::uint32_t area_granules = 0;
  std::vector<const std::byte*> member_lanes;  ///< lane, by rank; empty but in Order::lcr
  std::byte* own_lane = nullptr;               ///< member_lanes[self], writable
  std::uint32_t lane_granules = 0;             ///< a power of two
  std::byte* own_control = nullptr;            ///< member_controls[self], writable
  std::byte* own_other_control = nullptr;      ///< our block of the view before, or null
  std::byte* own_reclaimed = nullptr;          ///< ours of sender_reclaimed, writable
  std::byte* own_ring = nullptr;               ///< own ring, if a sender in some view
  std::uint32_t ring_granules = 0;             ///< a power of two
  std::uint32_t window_records = 0;            ///< a power of two
  std::uint32_t message_max_bytes = 0;
  Order order = Order::round_robin;
  Level level = Level::atomic;
  TokenWindows windows{};              ///< of Order::token_ring
  std::uint64_t first_seq = 0;         ///< number of the view's first message, or kUnknownSeq
  std::uint64_t own_base_records = 0;  ///< own records that were delivered in earlier views

  [[nodiscard]] std::uint32_t members() const {
    return static_cast<std::uint32_t>(member_controls.size());
  }
  [[nodiscard]] std::uint32_t senders() const {
    return static_cast<std::uint32_t>(sender_ranks.size());
  }
};

}  // namespace tutti
