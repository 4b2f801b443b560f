/// \file frame_writer.hpp
/// Turns what waits for a peer (post_queue.hpp) into frames for its socket: gathered in place, and
/// sent in pieces of any size. Knows nothing of sockets.
///
/// Invariants: FW1 the stream is whole frames in the queue's order: each extent of a chunk, then
/// the chunk's words as one control frame; FW2 a chunk of which a byte has gone out is closed
/// (PQ2), also if that byte is of a frame's header, which has the frame's size.
/// Threads: the predicate thread only.
#pragma once
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/post_queue.hpp"
#include "fabric/tcp/frame.hpp"

namespace tutti::tcp {

class FrameWriter {
 public:
  /// What one gather() returns at most: one system call of some 100 us, so that a fast peer does
  /// not delay what comes from the others.
  static constexpr std::size_t kGatherBytesMax = 512 * 1024;
  static constexpr std::size_t kGatherPiecesMax = 64;

  /// `own_row` stays valid as long as the queue has posts.
  FrameWriter(const std::byte* own_row, std::uint64_t epoch) : own_row_(own_row), epoch_(epoch) {}

  /// The next bytes for the wire, in order; empty only if the queue is. Valid until the next call
  /// and the next post.
  [[nodiscard]] std::span<const iovec> gather(const PostQueue& queue);

  /// The first `bytes` of the last gather() have gone out; nothing was posted since.
  void advance(PostQueue& queue, std::size_t bytes);

  [[nodiscard]] std::uint64_t frames_sent() const { return frames_sent_; }
  [[nodiscard]] std::uint64_t payload_sent() const { return payload_sent_; }

 private:
  [[nodiscard]] bool add_frame(const FrameHeader& header, const std::byte* payload);
  [[nodiscard]] bool add_piece(const void* bytes, std::size_t size);

  const std::byte* own_row_;
  std::uint64_t epoch_;
  std::size_t sent_ = 0;  // bytes of the oldest frame that have gone out, its header's too

  // The last gather(): pieces, the headers they point to, and what it still leaves out.
  std::array<iovec, kGatherPiecesMax> pieces_{};
  std::array<FrameHeader, kGatherPiecesMax> headers_{};
  std::size_t piece_count_ = 0;
  std::size_t header_count_ = 0;
  std::size_t gathered_bytes_ = 0;
  std::size_t skip_bytes_ = 0;

  std::uint64_t frames_sent_ = 0;
  std::uint64_t payload_sent_ = 0;
};

}  // namespace tutti::tcp
