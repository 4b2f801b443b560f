#include "fabric/ofi/post_queue.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/assert.hpp"
#include "fabric/ofi/control_ring.hpp"
#include "fabric/row_header.hpp"
#include "fabric/tcp/frame.hpp"

namespace tutti::ofi {
namespace {

using tcp::ControlRecord;
using tcp::kControlRecordBytes;

constexpr std::size_t kReservedPosts = 64;
constexpr std::size_t kReservedChunkFrameBytes = 4096;
constexpr std::ptrdiff_t kMergeDepth =
    16;  // extents looked at for one that ends where a post starts

}  // namespace

PostQueue::PostQueue(Ordering ordering) : ordering_(ordering) {
  for (Chunk& chunk : chunks_) {
    chunk.data.reserve(kReservedPosts);
    chunk.cells.reserve(kReservedPosts);
    chunk.frame.reserve(kReservedChunkFrameBytes);
  }
}

PostQueue::Chunk& PostQueue::open_chunk() {
  TUTTI_ASSERT(count_ < kChunksMax, count_);
  Chunk& chunk = chunk_at(count_++);
  chunk.data.clear();
  chunk.cells.clear();
  chunk.frame.clear();
  chunk.data_bytes = 0;
  return chunk;
}

void PostQueue::write(Extent data) {
  TUTTI_ASSERT(data.offset >= kRowHeaderBytes, data.offset);
  if (data.bytes == 0) return;
  bool open_new = last_is_closed();
  if (!open_new && count_ < kChunksMax) {
    const Chunk& last = chunk_at(count_ - 1);
    open_new = !last.cells.empty() && last.data_bytes >= kChunkBytes;
  }
  Chunk& chunk = open_new ? open_chunk() : chunk_at(count_ - 1);
  chunk.data_bytes += data.bytes;
  // Several groups post in turn, so the extent that this one continues need not be the last.
  const auto deepest = std::min<std::ptrdiff_t>(std::ssize(chunk.data), kMergeDepth);
  for (auto extent = chunk.data.rbegin(); extent != chunk.data.rbegin() + deepest; ++extent) {
    if (extent->offset + extent->bytes != data.offset) continue;
    if (extent->bytes > std::numeric_limits<std::uint32_t>::max() - data.bytes) continue;
    extent->bytes += data.bytes;
    return;
  }
  chunk.data.push_back(data);
}

void PostQueue::publish(std::uint64_t offset, std::span<const std::byte> words) {
  TUTTI_ASSERT(offset >= kRowHeaderBytes && offset % 8 == 0 && words.size() % 8 == 0, offset,
               words.size());
  if (words.empty()) return;
  Chunk& chunk = last_is_closed() ? open_chunk() : chunk_at(count_ - 1);
  remove_covered(chunk, offset, words.size());
  const std::size_t position = chunk.frame.size();
  TUTTI_ASSERT(position + kControlRecordBytes + words.size() <= kFrameBytesMax, position);
  chunk.cells.push_back(
      {offset, static_cast<std::uint32_t>(words.size()), static_cast<std::uint32_t>(position)});
  chunk.frame.resize(position + kControlRecordBytes + words.size());
  const ControlRecord record{.offset = offset, .bytes = words.size()};
  std::memcpy(chunk.frame.data() + position, &record, sizeof record);
  std::memcpy(chunk.frame.data() + position + sizeof record, words.data(), words.size());
}

// Older words that the new ones cover go; the new ones go to the end, as a record that overlaps
// only in part may be among those in between, and the newest value must be stored last.
void PostQueue::remove_covered(Chunk& chunk, std::uint64_t offset, std::size_t bytes) {
  for (std::size_t index = chunk.cells.size(); index-- > 0;) {
    const Cell cell = chunk.cells[index];
    if (cell.offset < offset || cell.offset + cell.bytes > offset + bytes) continue;
    const std::uint32_t gap = cell.bytes + static_cast<std::uint32_t>(kControlRecordBytes);
    const auto at = chunk.frame.begin() + cell.position;
    chunk.frame.erase(at, at + gap);
    chunk.cells.erase(chunk.cells.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::size_t later = index; later < chunk.cells.size(); ++later) {
      chunk.cells[later].position -= gap;
    }
  }
}

std::optional<Extent> PostQueue::next_data() const {
  if (count_ == 0 || extent_ == front().data.size()) return std::nullopt;
  const Extent& extent = front().data[extent_];
  return Extent{extent.offset + extent_sent_, extent.bytes - extent_sent_};
}

std::span<const std::byte> PostQueue::next_frame(bool landed) const {
  if (count_ == 0 || extent_ < front().data.size()) return {};
  // Its later parts need not wait: it is applied once all of them are there.
  if (ordering_ == Ordering::none && frame_sent_ == 0 && !landed) return {};
  return std::span(front().frame).subspan(frame_sent_);
}

void PostQueue::data_sent(std::uint32_t bytes) {
  extent_sent_ += bytes;
  TUTTI_ASSERT(extent_sent_ <= front().data[extent_].bytes, extent_sent_);
  if (extent_sent_ < front().data[extent_].bytes) return;
  ++extent_;
  extent_sent_ = 0;
  pop_if_sent();
}

void PostQueue::frame_sent(std::size_t bytes) {
  frame_sent_ += bytes;
  TUTTI_ASSERT(frame_sent_ <= front().frame.size(), frame_sent_);
  pop_if_sent();
}

void PostQueue::pop_if_sent() {
  if (extent_ < front().data.size() || frame_sent_ < front().frame.size()) return;
  first_ = (first_ + 1) % kChunksMax;
  --count_;
  extent_ = extent_sent_ = 0;
  frame_sent_ = 0;
}

}  // namespace tutti::ofi
