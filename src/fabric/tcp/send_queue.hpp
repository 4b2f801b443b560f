/// \file send_queue.hpp
/// What was posted to one peer and has not gone out: merged as long as it waits, so that it stays
/// bounded however slow the peer is, by the ring buffers' sizes. Knows nothing of sockets.
///
///     chunk = data extents, in place in our row | control records, copied when they were published
///
/// Invariants: SQ1 a control record goes out after all data posted before it, and a later one never
/// before an earlier; SQ2 a chunk of which a byte has gone out changes no more; SQ3 at most
/// kChunksMax chunks: then posts merge into the last one. Merging may hold a control record back
/// behind later data, never let it overtake earlier data. Records that newer ones cover are left
/// out: the reader stores all of a frame at once, before it looks again (frame_reader.hpp), so it
/// sees none of the steps between. Steady state allocates nothing: chunks and their buffers are
/// used again. Threads: the predicate thread only.
#pragma once
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/tcp/frame.hpp"

namespace tutti::tcp {

class SendQueue {
 public:
  static constexpr std::size_t kChunksMax = 16;
  /// Data of a chunk that has control records already: beyond it, more data opens a new chunk, so
  /// that the records are not held back long.
  static constexpr std::size_t kChunkBytes = 128 * 1024;
  /// What one gather() returns at most: one system call of some 100 us, so that a fast peer does
  /// not delay what comes from the others.
  static constexpr std::size_t kGatherBytesMax = 512 * 1024;
  static constexpr std::size_t kGatherPiecesMax = 64;

  /// `own_row` stays valid as long as the queue has posts.
  SendQueue(const std::byte* own_row, std::uint64_t epoch);

  /// Posts data in place: read when it is sent.
  void write(Extent data);

  /// Posts control words, copied now. The distinct cells of a row fit kControlBytesMax.
  void publish(std::uint64_t offset, std::span<const std::byte> words);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// The next bytes for the wire, in order; empty only if the queue is. Valid until the next call.
  [[nodiscard]] std::span<const iovec> gather();

  /// The first `bytes` of the last gather() have gone out; nothing was posted since.
  void advance(std::size_t bytes);

  /// Forgets everything: the peer is gone.
  void clear();

  /// Of the chunks that have gone out entirely.
  [[nodiscard]] std::uint64_t frames_sent() const { return frames_sent_; }
  [[nodiscard]] std::uint64_t payload_sent() const { return payload_sent_; }

 private:
  struct Data {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
  };
  struct Cell {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t position = 0;  // of its ControlRecord in Chunk::control
  };
  struct Chunk {
    std::vector<Data> data;
    std::vector<Cell> cells;
    std::vector<std::byte> control;  // the control frame's payload
    std::size_t data_bytes = 0;
    [[nodiscard]] std::size_t frames() const { return data.size() + (cells.empty() ? 0 : 1); }
    [[nodiscard]] std::size_t wire_bytes() const {
      return frames() * kFrameHeaderBytes + data_bytes + control.size();
    }
  };

  [[nodiscard]] Chunk& chunk_at(std::size_t index) {
    return chunks_[(first_ + index) % kChunksMax];
  }
  [[nodiscard]] Chunk& open_chunk();
  [[nodiscard]] bool is_queued(Extent data);
  void skip_gone(const Chunk& chunk);
  [[nodiscard]] bool last_is_closed() const { return count_ == 0 || (count_ == 1 && sent_ > 0); }
  static void remove_covered(Chunk& chunk, std::uint64_t offset, std::size_t bytes);
  [[nodiscard]] bool add_frame(const FrameHeader& header, const std::byte* payload);
  [[nodiscard]] bool add_piece(const void* bytes, std::size_t size);

  const std::byte* own_row_;
  std::uint64_t epoch_;
  std::array<Chunk, kChunksMax> chunks_;
  std::size_t first_ = 0;  // index of the oldest chunk
  std::size_t count_ = 0;
  std::size_t sent_ = 0;        // wire bytes of the oldest chunk that have gone out
  std::size_t gone_ = 0;        // of its data frames, so many in whole
  std::size_t gone_bytes_ = 0;  // on the wire

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
