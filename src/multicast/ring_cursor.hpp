/// \file ring_cursor.hpp
/// Where a reader is in a sender's ring, told by the thread that delivers to the one that makes a
/// cut, and the walk from there over the records that follow.
///
/// Invariant: records from a published cursor on are not overwritten before we publish that we have
/// delivered them, so the walk reads what was sent. Headers come from another member and are
/// checked; nothing outside the ring is read.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/assert.hpp"
#include "smc/record.hpp"
#include "sst/sent_word.hpp"

namespace tutti {

struct RingCursor {
  std::uint64_t records = 0;   ///< of the view, before it
  std::uint64_t messages = 0;  ///< of them, not abandoned
  std::uint64_t round = 0;     ///< of the next record, unless it is stamped
  std::uint32_t offset = 0;    ///< of the next record, in granules
};

/// One writer, any readers, nobody waits.
class RingCursorCell {
 public:
  void store(const RingCursor& cursor) {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    TUTTI_ASSERT(version % 2 == 0, version, cursor.records);  // one writer
    version_.store(version + 1, std::memory_order_relaxed);
    // Release: none of these is seen without the odd version before it.
    records_.store(cursor.records, std::memory_order_release);
    messages_.store(cursor.messages, std::memory_order_release);
    round_.store(cursor.round, std::memory_order_release);
    offset_.store(cursor.offset, std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  /// Nothing while it is being written.
  [[nodiscard]] std::optional<RingCursor> load() const {
    const std::uint64_t version = version_.load(std::memory_order_acquire);
    RingCursor cursor;
    // Acquire: the second look at the version comes after these.
    cursor.records = records_.load(std::memory_order_acquire);
    cursor.messages = messages_.load(std::memory_order_acquire);
    cursor.round = round_.load(std::memory_order_acquire);
    cursor.offset = offset_.load(std::memory_order_acquire);
    if (version % 2 != 0 || version_.load(std::memory_order_relaxed) != version) return {};
    return cursor;
  }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> round_{0};
  std::atomic<std::uint32_t> offset_{0};
};

struct RingExtent {
  const std::byte* ring = nullptr;
  std::uint32_t granules = 0;
  std::uint32_t message_max_bytes = kLengthMask;
};

/// Walks over the records of `view` in a sender's ring, header by header.
template <class Memory>
class RingWalk {
 public:
  /// A stamp tells a round that is at most so far from the last one of its sender.
  static constexpr std::uint64_t kStampReach = 1ULL << 31;

  RingWalk(const Memory& memory, const RingExtent& ring, const RingCursor& from, std::uint64_t view)
      : memory_(memory), ring_(ring), view_(view), cursor_(from) {}

  /// Looks at the record at the cursor. Its round is `least` or later, if the sender was silent for
  /// so long that the stamp alone does not tell the round. False if the ring holds no record there.
  [[nodiscard]] bool look(std::uint64_t least = 0) {
    if (least > cursor_.round && least - cursor_.round > kStampReach) cursor_.round = least;
    header_ = header_at(cursor_.offset);
    take_stamp();
    for (int pads = 0; header_.pad(); ++pads) {
      const std::optional<std::uint32_t> next =
          offset_after(header_, cursor_.offset, ring_.granules);
      if (!next || pads == kMostPads) return false;
      cursor_.offset = *next;
      header_ = header_at(cursor_.offset);
      take_stamp();
    }
    return true;
  }
  /// Passes the record that look() has found. False if it is too long, or does not fit.
  [[nodiscard]] bool pass() {
    const std::uint64_t end = std::uint64_t{cursor_.offset} + record_granules(header_.length());
    if (end > ring_.granules || header_.length() > ring_.message_max_bytes) return false;
    if (!header_.abandoned()) ++cursor_.messages;
    ++cursor_.records;
    ++cursor_.round;
    cursor_.offset = static_cast<std::uint32_t>(end) & (ring_.granules - 1);
    return true;
  }
  /// Passes up to `most` records more that are messages and numbered on without a stamp: most are.
  /// Returns how many. It stops before any other record, which look() is for.
  std::uint64_t pass_run(std::uint64_t most) {
    const RingCursor from = cursor_;
    while (cursor_.records - from.records < most) {
      const std::byte* at = ring_.ring + std::size_t{cursor_.offset} * kGranule;
      const std::uint32_t length = unpack_header(memory_.load(at)).length_and_flags;
      if (length >= kTickLength || length > ring_.message_max_bytes) break;
      const std::uint32_t granules = record_granules(length);
      if (granules > ring_.granules - cursor_.offset) break;
      __builtin_prefetch(at + std::size_t{granules} * (4 * kGranule));  // often there is one
      cursor_.offset = (cursor_.offset + granules) & (ring_.granules - 1);
      ++cursor_.records;
    }
    const std::uint64_t passed = cursor_.records - from.records;
    cursor_.messages += passed;
    cursor_.round += passed;
    return passed;
  }
  [[nodiscard]] const RingCursor& cursor() const { return cursor_; }
  /// The record that look() has found is sent again in a later view: this one ended before it.
  [[nodiscard]] bool beyond() const { return beyond_; }

 private:
  [[nodiscard]] RecordHeader header_at(std::uint32_t offset) const {
    TUTTI_ASSERT(offset < ring_.granules, offset, ring_.granules, cursor_.records, view_);
    return unpack_header(memory_.load(ring_.ring + std::size_t{offset} * kGranule));
  }
  void take_stamp() {
    if (!header_.stamped()) return;
    const StampFrom from = header_.stamp_seen_from(view_);
    if (from == StampFrom::later) beyond_ = true;
    if (from != StampFrom::this_view) return;
    cursor_.round += header_.round - static_cast<std::uint32_t>(cursor_.round);
  }

  const Memory& memory_;
  const RingExtent ring_;
  const std::uint64_t view_;
  RingCursor cursor_;
  RecordHeader header_;
  bool beyond_ = false;
};

/// The round of the first record from the walk's cursor on that is in round `from` or later:
/// kNoRound if the first `records_end` records of the view have none, nothing if a header is
/// impossible.
template <class Memory>
[[nodiscard]] std::optional<std::uint64_t> first_round_from(RingWalk<Memory> walk,
                                                            std::uint64_t records_end,
                                                            std::uint64_t from) {
  while (walk.cursor().records < records_end) {
    if (!walk.look()) return {};
    if (walk.cursor().round >= from) return walk.cursor().round;
    if (!walk.pass()) return {};
  }
  return kNoRound;
}

/// The cursor behind the last of the first `records_end` records of the view that is in a round
/// before `rounds`; nothing if a header is impossible.
template <class Memory>
[[nodiscard]] std::optional<RingCursor> cursor_before(RingWalk<Memory> walk,
                                                      std::uint64_t records_end,
                                                      std::uint64_t rounds) {
  while (walk.cursor().records < records_end) {
    if (!walk.look()) return {};
    if (walk.beyond() || walk.cursor().round >= rounds) break;
    if (!walk.pass()) return {};
  }
  return walk.cursor();
}

}  // namespace tutti
