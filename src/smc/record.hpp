/// \file record.hpp
/// A record of a ring buffer: a header word and the message, in units of 8 bytes (granules).
///
///     header: 63 .. 32 round   31 .. 30 kind   29 stamped   28 .. 25 view   24 .. 0 length
///
/// Invariant R1: a record never wraps around the ring's end; a pad record fills what is left there
/// and its reader goes on at the start. Another pad fills what a message did not need of its claim,
/// if space behind it was claimed meanwhile: its length, in granules with the header, is not 0. The
/// same pad fills what lies between a record and the next place for one, where the data of records
/// is aligned to more than a granule. So a record has at most two pads in front. Pads take up no
/// round. R2: an abandoned record takes up its round and is not delivered. R3: a record's round
/// follows that of the record before it, but where nulls came between: then the header (of the pad,
/// if there is one in front) is stamped with its round, modulo 2^32, and with the view it has that
/// round in, modulo 16. So nulls, however many, take no space and no lock. R4: a record that a view
/// did not deliver is sent again, where it is, in the next. A stamp of an earlier view says nothing
/// then; one of a later view tells a member that has still to reach the end of its own that this
/// record lies beyond. R5: a message of Service::safe says so itself, in its kind, also when it is
/// sent again. R6: a tick (GroupOptions::tick_every) says so in its length, which is one that no
/// message has; it has kTickBytes bytes of data, the time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti {

inline constexpr std::size_t kGranule = 8;
// The kinds of a record; a message without a wish of its own has neither bit.
inline constexpr std::uint32_t kPadBit = 1U << 31;
inline constexpr std::uint32_t kAbandonedBit = 1U << 30;
inline constexpr std::uint32_t kSafeBits = kPadBit | kAbandonedBit;
inline constexpr std::uint32_t kStampedBit = 1U << 29;
inline constexpr int kViewShift = 25;
inline constexpr std::uint32_t kViewMask = 15U << kViewShift;
inline constexpr std::uint32_t kLengthMask = (1U << kViewShift) - 1;

inline constexpr std::uint32_t kTickLength = kLengthMask;  ///< R6
inline constexpr std::uint32_t kTickBytes = 8;

/// The view of a stamp, as it stands in a header.
[[nodiscard]] constexpr std::uint32_t view_tag(std::uint64_t view) {
  return static_cast<std::uint32_t>(view) << kViewShift & kViewMask;
}

/// What a stamp means to a reader in some view.
enum class StampFrom : std::uint8_t { this_view, earlier, later };

struct RecordHeader {
  std::uint32_t length_and_flags = 0;
  std::uint32_t round = 0;

  /// Of its data, in bytes; of a pad, in granules.
  [[nodiscard]] std::uint32_t length() const { return tick() ? kTickBytes : length_field(); }
  [[nodiscard]] bool tick() const {
    return (length_and_flags & (kSafeBits | kLengthMask)) == kTickLength;
  }
  [[nodiscard]] bool pad() const { return (length_and_flags & kSafeBits) == kPadBit; }
  [[nodiscard]] bool stamped() const { return (length_and_flags & kStampedBit) != 0; }
  /// Of a stamped header.
  [[nodiscard]] StampFrom stamp_seen_from(std::uint64_t view) const {
    const std::uint32_t ahead = (length_and_flags - view_tag(view)) & kViewMask;
    if (ahead == 0) return StampFrom::this_view;
    return ahead >> kViewShift < 8 ? StampFrom::later : StampFrom::earlier;
  }
  [[nodiscard]] bool abandoned() const { return (length_and_flags & kSafeBits) == kAbandonedBit; }
  [[nodiscard]] bool safe() const { return (length_and_flags & kSafeBits) == kSafeBits; }
  [[nodiscard]] std::uint32_t length_field() const { return length_and_flags & kLengthMask; }
};

[[nodiscard]] inline RecordHeader unpack_header(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
}

[[nodiscard]] inline std::uint64_t pack_header(RecordHeader header) {
  return header.length_and_flags | (static_cast<std::uint64_t>(header.round) << 32);
}

/// Granules that a message of `bytes` takes, header included.
[[nodiscard]] constexpr std::uint32_t record_granules(std::uint32_t bytes) {
  return 1 + (bytes + 7) / 8;
}

/// Pads in front of one record (R1).
inline constexpr int kMostPads = 2;

/// Where a reader goes on after the pad at `offset`, in granules; nothing if it does not fit.
[[nodiscard]] inline std::optional<std::uint32_t> offset_after(RecordHeader pad,
                                                               std::uint32_t offset,
                                                               std::uint32_t ring_granules) {
  if (pad.length() == 0) return 0;
  if (pad.length() > ring_granules - offset) return {};
  return (offset + pad.length()) & (ring_granules - 1);
}

}  // namespace tutti
