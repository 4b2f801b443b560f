/// \file post_queue.hpp
/// What was posted to one peer and has not been handed to the provider: merged as long as it waits,
/// so that it stays bounded however slow the peer is. Knows nothing of libfabric.
///
///     chunk = data extents, in place in our row | a frame of control records (control_ring.hpp)
///
/// Invariants: PQ1 a chunk's frame goes out after all data posted before any of its records, and
/// before any later chunk; where writes land in any order, once all that went out has landed; PQ2 a
/// chunk of which a byte has gone out changes no more; PQ3 at most kChunksMax chunks: then posts
/// merge into the last one. Words published again replace those of the same frame: the reader
/// applies it at once, before it looks again, and sees none of the steps between. Steady state
/// allocates nothing: chunks and their buffers are used again. Threads: the predicate thread only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/ordering.hpp"

namespace tutti::ofi {

class PostQueue {
 public:
  static constexpr std::size_t kChunksMax = 16;
  /// Data of a chunk that has records already: beyond it, more data opens a new chunk, so that the
  /// records are not held back long.
  static constexpr std::size_t kChunkBytes = 128 * 1024;

  explicit PostQueue(Ordering ordering);

  /// Posts data in place: read when it is sent.
  void write(Extent data);
  /// Posts control words, copied now. The distinct cells of a row fit kFrameBytesMax.
  void publish(std::uint64_t offset, std::span<const std::byte> words);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// What goes out next: data, or, if there is none before it, what is left of a frame. Neither
  /// only if the queue is empty, or the frame has to wait. `landed`: whether all that went out to
  /// the peer is known to be there.
  [[nodiscard]] std::optional<Extent> next_data() const;
  [[nodiscard]] std::span<const std::byte> next_frame(bool landed) const;
  /// Whether a frame goes out right behind next_data().
  [[nodiscard]] bool has_frame_next() const {
    return ordering_ == Ordering::writes && extent_ + 1 == front().data.size() &&
           !front().frame.empty();
  }

  /// So much of it has gone out.
  void data_sent(std::uint32_t bytes);
  void frame_sent(std::size_t bytes);

  /// Forgets everything: the peer is gone.
  void clear() { first_ = count_ = extent_ = extent_sent_ = frame_sent_ = 0; }

 private:
  struct Cell {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t position = 0;  // of its record in Chunk::frame
  };
  struct Chunk {
    std::vector<Extent> data;
    std::vector<Cell> cells;
    std::vector<std::byte> frame;
    std::size_t data_bytes = 0;
  };

  [[nodiscard]] Chunk& chunk_at(std::size_t index) {
    return chunks_[(first_ + index) % kChunksMax];
  }
  [[nodiscard]] const Chunk& front() const { return chunks_[first_]; }
  [[nodiscard]] Chunk& open_chunk();
  [[nodiscard]] bool front_begun() const {
    return extent_ > 0 || extent_sent_ > 0 || frame_sent_ > 0;
  }
  [[nodiscard]] bool last_is_closed() const {
    return count_ == 0 || (count_ == 1 && front_begun());
  }
  static void remove_covered(Chunk& chunk, std::uint64_t offset, std::size_t bytes);
  void pop_if_sent();

  Ordering ordering_;
  std::array<Chunk, kChunksMax> chunks_;
  std::size_t first_ = 0;  // index of the oldest chunk
  std::size_t count_ = 0;
  // Of the oldest chunk, what has gone out: whole extents, bytes of the next one, of the frame.
  std::size_t extent_ = 0;
  std::uint32_t extent_sent_ = 0;
  std::size_t frame_sent_ = 0;
};

}  // namespace tutti::ofi
