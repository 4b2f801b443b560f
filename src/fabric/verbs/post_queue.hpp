/// \file post_queue.hpp
/// What was posted to one peer and has not become work requests: as long as it waits, posts merge.
/// Knows nothing of verbs.
///
/// Invariants: V1 data goes before control words, so words go out after all data posted before
/// them (data may land early, F-order). V2 words go out in the order of their posts, and only a
/// post of one word takes the place of the newest, if that is of the same word. A reader looks at
/// the row while they land, so an older post may neither be left out nor be moved behind a newer
/// one of other words. Nor may a post of several words stand for the one before it: its words land
/// in any order, so what the first did, such as taking an epoch away, need no longer be seen before
/// what the second does. Threads: the predicate thread only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"

namespace tutti::verbs {

class PostQueue {
 public:
  /// Posts of control words that may wait. A connection that is alive takes millions a second: with
  /// so many, it is not.
  static constexpr std::size_t kCellsMax = 65536;

  /// A part of a post, small enough for one work request.
  struct Piece {
    const std::byte* words = nullptr;  ///< valid until forget_popped(); null: data, in place
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
  };

  PostQueue();

  /// Posts data in place: read when it is sent.
  void write(Extent data);

  /// Posts control words, copied now. False if too many wait: nothing was changed.
  [[nodiscard]] bool publish(std::uint64_t offset, std::span<const std::byte> words);

  [[nodiscard]] bool empty() const { return data_at_ == data_.size() && cell_at_ == cells_.size(); }

  /// The next piece, of at most so many bytes (a multiple of 8 for words). Not for an empty queue.
  [[nodiscard]] Piece front(std::uint32_t data_bytes_max, std::uint32_t words_bytes_max) const;

  /// The first bytes of the front have become a work request.
  void pop(std::uint32_t bytes);

  /// Frees what was popped.
  void forget_popped();

  /// Forgets everything: the peer is gone.
  void clear();

 private:
  struct Cell {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::size_t position = 0;  // of its words in words_
  };

  std::vector<Extent> data_;
  std::vector<Cell> cells_;
  std::vector<std::byte> words_;
  std::size_t data_at_ = 0;  // the first that was not popped
  std::size_t cell_at_ = 0;
  std::uint32_t popped_ = 0;  // bytes of the first cell that were popped already
};

}  // namespace tutti::verbs
