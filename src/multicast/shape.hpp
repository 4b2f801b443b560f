/// \file shape.hpp
/// What the multicast of one group needs to know of its view: who is who, and where their cells
/// are. Fixed while the view lasts.
///
/// All nodes of a view take part in each group, so a member's rank in a group is its rank in the
/// view. Some of them are its senders, which have indices of their own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sst/sender_index.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// A joiner learns it from those that know it (ControlWords::kFirstSeq).
inline constexpr std::uint64_t kUnknownSeq = ~0ULL;

inline constexpr Rank kNobody{std::numeric_limits<std::uint32_t>::max()};

/// Of the order token_ring, in messages; GroupOptions says what they are.
struct TokenWindows {
  std::uint32_t personal = 0;
  std::uint32_t global = 0;
  std::uint32_t accelerated = 0;
  std::uint32_t gap = 0;
};

struct GroupShape {
  std::uint64_t view = 0;  ///< the epoch of its control blocks (L3)
  Rank self{};
  SenderIndex own_sender = kNoSender;  ///< our own, if we are one
  IndexedBy<SenderIndex, Rank> sender_ranks;
  IndexedBy<SenderIndex, MemberIndex> sender_ids;  ///< what Message::sender says
  IndexedBy<Rank, const std::byte*> member_controls;
  IndexedBy<SenderIndex, const std::byte*> sender_rings;
  IndexedBy<SenderIndex, const std::byte*> sender_reclaimed;  ///< GroupOffsets::reclaimed
  /// Our replica of that ring; null where it is the sender's own (shared memory).
  IndexedBy<SenderIndex, std::byte*> sender_replicas;
  IndexedBy<Rank, const std::byte*> member_areas;  ///< pass area; empty but at Level::agreed
  std::byte* own_area = nullptr;                   ///< member_areas[self], writable
  std::uint32_t area_granules = 0;
  IndexedBy<Rank, const std::byte*> member_lanes;  ///< empty but in Order::lcr
  std::byte* own_lane = nullptr;                   ///< member_lanes[self], writable
  std::uint32_t lane_granules = 0;                 ///< a power of two
  std::byte* own_control = nullptr;                ///< member_controls[self], writable
  std::byte* own_other_control = nullptr;          ///< our block of the view before, or null
  std::byte* own_reclaimed = nullptr;              ///< ours of sender_reclaimed, writable
  std::byte* own_ring = nullptr;                   ///< own ring, if a sender in some view
  std::uint32_t ring_granules = 0;                 ///< a power of two
  std::uint32_t window_records = 0;                ///< a power of two
  std::uint32_t message_max_bytes = 0;
  std::uint32_t alignment = 8;      ///< of messages, in bytes
  std::uint64_t tick_every_ns = 0;  ///< 0: no ticks
  Order order = Order::round_robin;
  Level level = Level::atomic;
  bool logged = false;
  bool durable_quorum = false;         ///< at Level::durable
  TokenWindows windows{};              ///< of Order::token_ring
  std::uint64_t first_seq = 0;         ///< number of the view's first message, or kUnknownSeq
  std::uint64_t own_base_records = 0;  ///< own records that were delivered in earlier views

  [[nodiscard]] std::uint32_t members() const {
    return static_cast<std::uint32_t>(member_controls.size());
  }
  [[nodiscard]] std::uint32_t senders() const {
    return static_cast<std::uint32_t>(sender_ranks.size());
  }
  [[nodiscard]] auto ranks() const { return member_controls.indices(); }
  [[nodiscard]] auto sender_indices() const { return sender_ranks.indices(); }
};

}  // namespace tutti
