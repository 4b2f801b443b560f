/// \file frame_reader.hpp
/// Applies a peer's stream of frames to the replica of its row. Knows nothing of sockets: the
/// caller has bytes put where targets() says and tells how many came.
///
/// Bytes are input: whatever they are, nothing is written outside the replica, nor to its header.
/// Invariants: FR1 frames are applied in stream order; FR2 the words of a control frame are stored
/// one by one with release, after all earlier frames, and only when the whole frame is there;
/// FR3 after an error nothing is applied any more.
/// A large data frame bypasses the staging buffer: its payload is received where it belongs.
/// Threads: the predicate thread only.
#pragma once
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/tcp/frame.hpp"

namespace tutti::tcp {

class FrameReader {
 public:
  /// `row` is the replica: zeroed, aligned to 8 bytes, owned by the caller.
  FrameReader(std::span<std::byte> row, std::uint64_t epoch);

  /// Where the next bytes of the stream belong, in this order. Never empty before an error;
  /// valid until the next call of arrived().
  [[nodiscard]] std::span<const iovec> targets();

  /// The first `bytes` of targets() were filled. Applies what is complete; returns how many posts
  /// landed with that.
  std::size_t arrived(std::size_t bytes);

  /// What was wrong with the stream, empty as long as nothing was (FR3).
  [[nodiscard]] const std::string& error() const { return error_; }

  /// True when the stream ended inside a frame, if it ended here.
  [[nodiscard]] bool in_frame() const;

  /// Frames of other epochs, dropped.
  [[nodiscard]] std::uint64_t stale_frames() const { return stale_frames_; }

 private:
  enum class Step : std::uint8_t { applied, incomplete };

  Step parse_frame();
  Step start_data(const FrameHeader& header);
  Step apply_control(const FrameHeader& header);
  [[nodiscard]] bool control_valid(std::span<const std::byte> payload);
  void store_control(std::span<const std::byte> payload);
  [[nodiscard]] bool header_valid(const FrameHeader& header);
  [[nodiscard]] bool inside_row(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::size_t staged() const { return staged_end_ - staged_begin_; }
  Step corrupt(std::string what);

  std::span<std::byte> row_;
  std::uint64_t epoch_;
  std::vector<std::byte> staging_;
  std::size_t staged_begin_ = 0;  // unparsed bytes in staging_
  std::size_t staged_end_ = 0;
  std::byte* direct_ = nullptr;    // where the rest of the current data frame goes
  std::size_t direct_bytes_ = 0;   // how much of it is missing; then nothing is staged
  std::size_t skipped_bytes_ = 0;  // how much of a dropped frame is still to come
  std::size_t landed_ = 0;         // posts, in the current call of arrived()
  std::array<iovec, 2> targets_{};
  std::uint64_t stale_frames_ = 0;
  std::string error_;
};

}  // namespace tutti::tcp
