/// \file control_ring.hpp
/// How control words go from one side to the other: as records in a frame, cut into parts, each
/// written by one write into a ring at the peer, who applies the whole frame at once when it polls.
///
///     part: { position, bytes and whether the frame ends, check } | a piece of the frame
///     frame: records { offset, bytes, the words themselves } (control_record.hpp)
///
/// Why not straight into the row: words that wait for a slow peer are merged, newer over older, and
/// that is right only where all words of a frame are seen together (F-order, F-control).
/// A part says itself when it is there: its position, never used before, and the check of its
/// bytes, so that no order of bytes within a write is needed.
/// Invariants: CR1 a part starts where both ends expect it, see part_start(); CR2 what is not
/// consumed is not written over: position + bytes - consumed <= ring.
/// Threads: the predicate thread only. Bytes in the ring are a peer's: input.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/ofi/window.hpp"

namespace tutti::ofi {

struct PartHeader {
  std::uint64_t position = 0;
  std::uint32_t bytes = 0;  ///< that follow, a multiple of 8
  std::uint32_t last = 0;   ///< 1: the frame ends here
  std::uint64_t check = 0;
};
inline constexpr std::size_t kPartHeaderBytes = 24;
static_assert(sizeof(PartHeader) == kPartHeaderBytes);

/// With its header; ordered by every provider that is taken.
inline constexpr std::size_t kPartBytesMax = 4096;
inline constexpr std::size_t kPartPayloadMax = kPartBytesMax - kPartHeaderBytes;

/// Where the next part starts: at `position`, or at the ring's begin if the largest part would not
/// fit before its end (CR1).
[[nodiscard]] constexpr std::uint64_t part_start(std::uint64_t position) {
  const std::uint64_t room = kRingBytes - position % kRingBytes;
  return room < kPartBytesMax ? position + room : position;
}

[[nodiscard]] std::uint64_t part_check(const PartHeader& header,
                                       std::span<const std::byte> payload);

/// The writing end: builds parts in memory that mirrors the peer's ring and lies still until they
/// are consumed there, so that they can be written from there at any time.
class RingWriter {
 public:
  struct Part {
    std::uint64_t offset = 0;  ///< in the ring
    std::uint32_t bytes = 0;   ///< to be written there, from the same offset of the mirror
    std::uint32_t payload = 0;
  };

  /// `mirror` has kRingBytes.
  explicit RingWriter(std::span<std::byte> mirror) : mirror_(mirror) {}

  /// Whether build() would find room for the next part of so many bytes that are left of a frame.
  [[nodiscard]] bool has_room(std::size_t rest_bytes, std::uint64_t consumed) const;
  /// Builds the next part of a frame of which `rest` is left; nothing if there is no room (CR2).
  [[nodiscard]] std::optional<Part> build(std::span<const std::byte> rest, std::uint64_t consumed);
  /// The part just built was posted.
  void posted(const Part& part) { position_ = part_start(position_) + part.bytes; }
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  std::span<std::byte> mirror_;
  std::uint64_t position_ = 0;
};

/// The reading end: applies what has come to the row.
class RingReader {
 public:
  RingReader(std::span<const std::byte> ring, std::span<std::byte> row);

  /// Applies all frames that are whole; returns how many.
  std::size_t poll();

  /// Up to where the ring may be written over.
  [[nodiscard]] std::uint64_t consumed() const { return position_; }
  /// What was wrong with what came; nothing is applied any more. Empty: nothing.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] bool take_part();
  [[nodiscard]] bool apply();

  std::span<const std::byte> ring_;
  std::span<std::byte> row_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> frame_;  // the parts of it that have come
  bool whole_ = false;
  std::string error_;
};

}  // namespace tutti::ofi
