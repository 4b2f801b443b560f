#include "fabric/verbs/post_queue.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"

namespace tutti::verbs {
namespace {

constexpr std::size_t kReservedPosts = 64;
constexpr std::size_t kReservedBytes = 4096;
constexpr std::size_t kMergeDepth = 16;   // extents looked at for one that ends where a post starts
constexpr std::size_t kPoppedMax = 4096;  // posts that are kept although they were popped

}  // namespace

PostQueue::PostQueue() {
  data_.reserve(kReservedPosts);
  cells_.reserve(kReservedPosts);
  words_.reserve(kReservedBytes);
}

void PostQueue::write(Extent data) {
  if (data.bytes == 0) return;
  // Several groups post in turn, so the extent that this one continues need not be the last.
  const std::size_t depth = std::min(data_.size() - data_at_, kMergeDepth);
  for (std::size_t back = 1; back <= depth; ++back) {
    Extent& extent = data_[data_.size() - back];
    if (extent.offset + extent.bytes != data.offset) continue;
    if (extent.bytes > std::numeric_limits<std::uint32_t>::max() - data.bytes) continue;
    extent.bytes += data.bytes;
    return;
  }
  data_.push_back(data);
}

bool PostQueue::publish(std::uint64_t offset, std::span<const std::byte> words) {
  TUTTI_ASSERT(offset % 8 == 0 && words.size() % 8 == 0, offset, words.size());
  if (words.empty()) return true;
  if (words.size() == 8 && cell_at_ < cells_.size()) {
    const Cell& last = cells_.back();
    // Of one word: nothing of it was popped.
    if (last.offset == offset && last.bytes == 8) {
      std::ranges::copy(words, words_.begin() + static_cast<std::ptrdiff_t>(last.position));
      return true;
    }
  }
  if (cells_.size() - cell_at_ >= kCellsMax) return false;
  cells_.push_back({offset, static_cast<std::uint32_t>(words.size()), words_.size()});
  words_.insert(words_.end(), words.begin(), words.end());
  return true;
}

PostQueue::Piece PostQueue::front(std::uint32_t data_bytes_max,
                                  std::uint32_t words_bytes_max) const {
  if (data_at_ < data_.size()) {
    const Extent& extent = data_[data_at_];
    return {nullptr, extent.offset, std::min(extent.bytes, data_bytes_max)};
  }
  const Cell& cell = cells_[cell_at_];
  return {words_.data() + cell.position + popped_, cell.offset + popped_,
          std::min(cell.bytes - popped_, words_bytes_max)};
}

void PostQueue::pop(std::uint32_t bytes) {
  if (data_at_ < data_.size()) {
    Extent& extent = data_[data_at_];
    extent.offset += bytes;
    extent.bytes -= bytes;
    if (extent.bytes == 0) ++data_at_;
    return;
  }
  popped_ += bytes;
  if (popped_ < cells_[cell_at_].bytes) return;
  popped_ = 0;
  ++cell_at_;
}

void PostQueue::forget_popped() {
  if (data_at_ == data_.size() || data_at_ > kPoppedMax) {
    data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(data_at_));
    data_at_ = 0;
  }
  if (cell_at_ == cells_.size()) {
    cells_.clear();
    words_.clear();
    cell_at_ = 0;
  } else if (cell_at_ > kPoppedMax) {
    const std::size_t first = cells_[cell_at_].position;
    cells_.erase(cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(cell_at_));
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(first));
    for (Cell& cell : cells_) cell.position -= first;
    cell_at_ = 0;
  }
}

void PostQueue::clear() {
  data_.clear();
  cells_.clear();
  words_.clear();
  data_at_ = 0;
  cell_at_ = 0;
  popped_ = 0;
}

}  // namespace tutti::verbs
