/// \file pair.hpp
/// A queue pair to one peer and all that belongs to it: made during the handshake, used by the
/// fabric, destroyed as a whole. Nothing in it is shared with another pair but the device.
///
///     region = the peer's row | 64 bytes: the peer's bell (see verbs_fabric.hpp), and a number
///     that
///              changes while much data of the peer arrives
///
/// The region is what the peer may write, by its rkey, and nothing else of ours.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fabric/pages.hpp"
#include "fabric/verbs/device.hpp"
#include "fabric/verbs/handles.hpp"

namespace tutti::verbs {

inline constexpr std::size_t kBellBytes = 64;
inline constexpr std::size_t kAliveOffset = 8;  // of that number, behind the bell

/// One post each may be under way, and there is one bell: the rest is for who does not keep to it.
inline constexpr std::uint32_t kReceiveQueueDepth = 4;

/// Copies of control words that are too long to be inline, until they are sent. Behind them there
/// is room for the number of our bell, and for the one that says that we live.
inline constexpr std::size_t kStagingSlots = 16;
inline constexpr std::uint32_t kStagingSlotBytes = 4096;

/// Marks the completions of receives; those of sends have the number of the work request.
inline constexpr std::uint64_t kReceiveMark = std::uint64_t{1} << 63;

struct Pair {
  /// Memory for a row of `row_bytes`, queues, nobody at the other end yet. Takes the id, which has
  /// a device, and its channel.
  [[nodiscard]] static Result<std::shared_ptr<Pair>> make(std::shared_ptr<Device> device,
                                                          EventChannel channel, CmId connecting,
                                                          std::size_t row_bytes);
  Pair(std::shared_ptr<Device> own_device, EventChannel channel, CmId connecting, Pages row,
       Pages copies)
      : device(std::move(own_device)),
        events(std::move(channel)),
        id(std::move(connecting)),
        region(std::move(row)),
        staging(std::move(copies)) {}

  /// Posts one receive, for one ring of the bell.
  [[nodiscard]] Result<void> post_receive() const;

  [[nodiscard]] const std::atomic<std::uint64_t>& bell() const { return word_behind_row(0); }
  [[nodiscard]] const std::atomic<std::uint64_t>& alive() const {
    return word_behind_row(kAliveOffset);
  }
  [[nodiscard]] const std::atomic<std::uint64_t>& word_behind_row(std::size_t offset) const {
    return *reinterpret_cast<const std::atomic<std::uint64_t>*>(region.bytes().data() +
                                                                row_bytes() + offset);
  }
  /// Room for the peer's row.
  [[nodiscard]] std::size_t row_bytes() const { return region.bytes().size() - kBellBytes; }

  std::shared_ptr<Device> device;
  EventChannel events;
  CmId id;
  Pages region;
  Pages staging;
  MemoryRegion region_key;
  MemoryRegion staging_key;
  CompletionQueue completions;
  QueuePair queue_pair;
  std::uint32_t depth = 0;         // of the send queue
  std::uint32_t inline_bytes = 0;  // what it takes inline
  // What the device says of it, read on any thread (an ibv_event_type plus 1).
  std::atomic<int> async_event = 0;
  // The other end, once it has answered.
  std::uint64_t remote_row = 0;   // our row there
  std::uint64_t remote_bell = 0;  // our bell there
  std::uint32_t remote_key = 0;
};

}  // namespace tutti::verbs
