/// \file post_queue.hpp
/// The posts to one peer that have not gone out. All carriers of replicas use it: tcp, ofi, verbs.
/// Posts merge while they wait, so that the queue stays bounded however slow the peer is.
///
///     queue = up to kChunksMax chunks, oldest first
///     chunk = data extents, in place in our row | control words, copied when they were published
///
/// Invariants: PQ1 A control word goes out after all data posted before it, and never before an
/// earlier control word (F-order, F-control). Data may go out before control words posted earlier.
/// PQ2 A chunk of which a byte has gone out changes no more. PQ3 When all chunks are in use, posts
/// merge into the last one: extents are bounded by the rings' sizes, framed words by the row's
/// cells, placed words by kRecordsMax. PQ4 Data that adjoins data of the same chunk extends that
/// extent. Data that lies inside an extent that still waits in whole is not queued again: the
/// extent is read in place when it goes out (F-data).
/// The carrier's policy says which older words newer ones may replace (Words), and whether words
/// wait until all data is known to have landed (Ordering).
/// Steady state allocates nothing: chunks are used again. Threads: the predicate thread only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/control_record.hpp"
#include "fabric/fabric.hpp"
#include "fabric/ordering.hpp"

namespace tutti {

/// How the words of a chunk reach the peer's replica.
enum class Words : std::uint8_t {
  /// As one frame, which the reader applies at once. It sees no state between, so newer words
  /// replace all older ones of the frame that they cover.
  framed,
  /// Each post by a write of its own, while the reader looks. So no post is left out or moved
  /// behind a newer one of other words. A post of one word replaces the newest post if that is the
  /// same word. A post of several words replaces nothing: its words land in any order, and what the
  /// earlier post did, such as clearing an epoch, would not be seen first.
  placed,
};

/// What a carrier promises.
struct PostPolicy {
  Words words = Words::framed;
  Ordering ordering = Ordering::writes;  ///< none: a frame waits until all before it has landed
};

class PostQueue {
 public:
  static constexpr std::size_t kChunksMax = 16;
  /// Data of a chunk that has words already. Beyond it, more data opens a new chunk, so that the
  /// words do not wait long.
  static constexpr std::size_t kChunkBytes = 128 * 1024;
  /// Placed posts that may wait. A live connection takes millions a second.
  static constexpr std::size_t kRecordsMax = 65536;

  struct Placed {
    std::uint64_t offset = 0;
    std::span<const std::byte> words;
  };

  explicit PostQueue(PostPolicy policy);

  /// Posts data in place: it is read when it is sent.
  void write(Extent data);
  /// Posts control words, copied now.
  void publish(std::uint64_t offset, std::span<const std::byte> words);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// A placed post was dropped because kRecordsMax of them waited: the peer has to be lost. Never
  /// where words are framed.
  [[nodiscard]] bool overflowed() const { return overflowed_; }

  /// What goes out next: data or, if the oldest chunk has none left, its words. Spans are valid
  /// until the next post.
  [[nodiscard]] std::optional<Extent> next_data() const;
  /// The rest of the frame; empty if data is next or if the frame has to wait. `landed`: whether
  /// all that went out to the peer is known to have landed.
  [[nodiscard]] std::span<const std::byte> next_frame(bool landed) const;
  /// The rest of the oldest placed post. Only if the queue is not empty and no data is next.
  [[nodiscard]] Placed next_placed() const;
  /// The frame that may go out right behind the extent of next_data(); empty if there is none.
  [[nodiscard]] std::span<const std::byte> frame_behind_next_data() const;

  /// So many bytes of it have gone out.
  void data_sent(std::uint32_t bytes);
  void frame_sent(std::size_t bytes);
  void placed_sent(std::size_t bytes);

  /// For a carrier that sends several chunks at once: what is left of each, oldest first.
  [[nodiscard]] std::size_t chunk_count() const { return count_; }
  [[nodiscard]] std::span<const Extent> data_of(std::size_t chunk) const;
  [[nodiscard]] std::span<const std::byte> frame_of(std::size_t chunk) const;
  /// Closes the oldest chunk: part of what is next has gone out (PQ2).
  void close_front() { front_begun_ = true; }

  /// Forgets everything: the peer is gone.
  void clear();

 private:
  struct Record {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t position = 0;  // of its ControlRecord in Chunk::control
  };
  struct Chunk {
    std::vector<Extent> data;
    std::vector<Record> records;
    std::vector<std::byte> control;  // the frame
    std::size_t data_bytes = 0;
  };

  [[nodiscard]] std::size_t index_of(std::size_t chunk) const {
    return (first_ + chunk) % kChunksMax;
  }
  [[nodiscard]] const Chunk& front() const { return chunks_[first_]; }
  [[nodiscard]] Chunk& open_chunk();
  [[nodiscard]] Chunk& last_chunk();
  [[nodiscard]] bool is_queued(Extent data) const;
  [[nodiscard]] bool last_is_closed() const { return count_ == 0 || (count_ == 1 && front_begun_); }
  void publish_placed(std::uint64_t offset, std::span<const std::byte> words);
  [[nodiscard]] bool replace_newest(std::uint64_t offset, std::span<const std::byte> words);
  static void remove_covered(Chunk& chunk, std::uint64_t offset, std::size_t bytes);
  static void append(Chunk& chunk, std::uint64_t offset, std::span<const std::byte> words);
  void pop_if_sent();

  PostPolicy policy_;
  std::array<Chunk, kChunksMax> chunks_;
  std::size_t first_ = 0;  // the oldest chunk's index in chunks_
  std::size_t count_ = 0;
  std::size_t placed_count_ = 0;  // placed posts in all chunks
  bool overflowed_ = false;
  // What of the oldest chunk has gone out.
  bool front_begun_ = false;
  std::size_t extent_ = 0;         // whole extents
  std::uint32_t extent_sent_ = 0;  // bytes of the next extent
  std::size_t record_ = 0;         // whole placed posts
  std::size_t control_sent_ = 0;   // bytes of the frame, or of the next placed post
};

}  // namespace tutti
