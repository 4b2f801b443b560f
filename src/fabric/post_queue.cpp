#include "fabric/post_queue.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/assert.hpp"
#include "fabric/row_header.hpp"

namespace tutti {
namespace {

constexpr std::size_t kReservedPosts = 64;
constexpr std::size_t kReservedControlBytes = 4096;

// Several groups post in turn, so the extent that a post continues need not be the last. So many
// are looked at.
constexpr std::size_t kMergeDepth = 16;

template <class Extents>
[[nodiscard]] auto newest_of(Extents& extents) {
  return std::span(extents).last(std::min(extents.size(), kMergeDepth));
}

}  // namespace

PostQueue::PostQueue(PostPolicy policy) : policy_(policy) {
  for (Chunk& chunk : chunks_) {
    chunk.data.reserve(kReservedPosts);
    chunk.records.reserve(kReservedPosts);
    chunk.control.reserve(kReservedControlBytes);
  }
}

PostQueue::Chunk& PostQueue::open_chunk() {
  TUTTI_ASSERT(count_ < kChunksMax, count_);
  Chunk& chunk = chunks_[index_of(count_++)];
  chunk.data.clear();
  chunk.records.clear();
  chunk.control.clear();
  chunk.data_bytes = 0;
  return chunk;
}

PostQueue::Chunk& PostQueue::last_chunk() {
  return last_is_closed() ? open_chunk() : chunks_[index_of(count_ - 1)];
}

// PQ4. A sender posts again what a view left over, and to a slow peer it may still wait since then:
// it goes out once for both posts, before the words of either.
bool PostQueue::is_queued(Extent data) const {
  for (std::size_t index = front_begun_ ? 1 : 0; index < count_; ++index) {
    const auto covers = [&](const Extent& extent) {
      return extent.offset <= data.offset &&
             extent.offset + extent.bytes >= data.offset + data.bytes;
    };
    if (std::ranges::any_of(newest_of(chunks_[index_of(index)].data), covers)) return true;
  }
  return false;
}

void PostQueue::write(Extent data) {
  TUTTI_ASSERT(data.offset >= kRowHeaderBytes, data.offset);
  if (data.bytes == 0 || is_queued(data)) return;
  Chunk* chunk = &last_chunk();
  if (!chunk->records.empty() && chunk->data_bytes >= kChunkBytes && count_ < kChunksMax) {
    chunk = &open_chunk();
  }
  chunk->data_bytes += data.bytes;
  const std::span<Extent> newest = newest_of(chunk->data);
  const auto continued = std::find_if(newest.rbegin(), newest.rend(), [&](const Extent& extent) {
    return extent.offset + extent.bytes == data.offset &&
           extent.bytes <= std::numeric_limits<std::uint32_t>::max() - data.bytes;
  });
  if (continued != newest.rend()) {
    continued->bytes += data.bytes;
  } else {
    chunk->data.push_back(data);
  }
}

void PostQueue::publish(std::uint64_t offset, std::span<const std::byte> words) {
  TUTTI_ASSERT(offset >= kRowHeaderBytes && offset % 8 == 0 && words.size() % 8 == 0, offset,
               words.size());
  if (words.empty()) return;
  if (policy_.words == Words::placed) return publish_placed(offset, words);
  Chunk& chunk = last_chunk();
  remove_covered(chunk, offset, words.size());
  append(chunk, offset, words);
  TUTTI_ASSERT(chunk.control.size() <= kControlBytesMax, chunk.control.size());
}

void PostQueue::publish_placed(std::uint64_t offset, std::span<const std::byte> words) {
  if (replace_newest(offset, words)) return;
  overflowed_ = overflowed_ || placed_count_ == kRecordsMax;
  if (overflowed_) return;
  ++placed_count_;
  append(last_chunk(), offset, words);
}

bool PostQueue::replace_newest(std::uint64_t offset, std::span<const std::byte> words) {
  if (words.size() != 8 || last_is_closed()) return false;
  Chunk& chunk = chunks_[index_of(count_ - 1)];
  if (chunk.records.empty()) return false;
  const Record& newest = chunk.records.back();
  if (newest.offset != offset || newest.bytes != 8) return false;
  std::memcpy(chunk.control.data() + newest.position + kControlRecordBytes, words.data(), 8);
  return true;
}

void PostQueue::append(Chunk& chunk, std::uint64_t offset, std::span<const std::byte> words) {
  const std::size_t position = chunk.control.size();
  TUTTI_ASSERT(position <= std::numeric_limits<std::uint32_t>::max(), position);
  chunk.records.push_back(
      {offset, static_cast<std::uint32_t>(words.size()), static_cast<std::uint32_t>(position)});
  chunk.control.resize(position + kControlRecordBytes + words.size());
  const ControlRecord record{.offset = offset, .bytes = words.size()};
  std::memcpy(chunk.control.data() + position, &record, sizeof record);
  std::memcpy(chunk.control.data() + position + sizeof record, words.data(), words.size());
}

// The new words go to the end: a record that overlaps only in part may be among those in between,
// and the newest value must be stored last.
void PostQueue::remove_covered(Chunk& chunk, std::uint64_t offset, std::size_t bytes) {
  for (std::size_t index = chunk.records.size(); index-- > 0;) {
    const Record record = chunk.records[index];
    if (record.offset < offset || record.offset + record.bytes > offset + bytes) continue;
    const std::uint32_t gap = record.bytes + static_cast<std::uint32_t>(kControlRecordBytes);
    const auto at = chunk.control.begin() + record.position;
    chunk.control.erase(at, at + gap);
    chunk.records.erase(chunk.records.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::size_t later = index; later < chunk.records.size(); ++later) {
      chunk.records[later].position -= gap;
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
  // Later parts of a frame need not wait: the reader applies it once all of them are there.
  if (policy_.ordering == Ordering::none && control_sent_ == 0 && !landed) return {};
  return std::span(front().control).subspan(control_sent_);
}

PostQueue::Placed PostQueue::next_placed() const {
  const Record& record = front().records[record_];
  const auto words = std::span(front().control)
                         .subspan(record.position + kControlRecordBytes, record.bytes)
                         .subspan(control_sent_);
  return {record.offset + control_sent_, words};
}

std::span<const std::byte> PostQueue::frame_behind_next_data() const {
  if (policy_.ordering == Ordering::none || extent_ + 1 != front().data.size()) return {};
  return front().control;
}

std::span<const Extent> PostQueue::data_of(std::size_t chunk) const {
  return std::span(chunks_[index_of(chunk)].data).subspan(chunk == 0 ? extent_ : 0);
}

std::span<const std::byte> PostQueue::frame_of(std::size_t chunk) const {
  return chunks_[index_of(chunk)].control;
}

void PostQueue::data_sent(std::uint32_t bytes) {
  front_begun_ = true;
  extent_sent_ += bytes;
  TUTTI_ASSERT(extent_sent_ <= front().data[extent_].bytes, extent_sent_);
  if (extent_sent_ < front().data[extent_].bytes) return;
  ++extent_;
  extent_sent_ = 0;
  pop_if_sent();
}

void PostQueue::frame_sent(std::size_t bytes) {
  front_begun_ = true;
  control_sent_ += bytes;
  TUTTI_ASSERT(control_sent_ <= front().control.size(), control_sent_);
  if (control_sent_ < front().control.size()) return;
  record_ = front().records.size();
  pop_if_sent();
}

void PostQueue::placed_sent(std::size_t bytes) {
  front_begun_ = true;
  control_sent_ += bytes;
  TUTTI_ASSERT(control_sent_ <= front().records[record_].bytes, control_sent_);
  if (control_sent_ < front().records[record_].bytes) return;
  control_sent_ = 0;
  ++record_;
  --placed_count_;
  pop_if_sent();
}

void PostQueue::pop_if_sent() {
  if (extent_ < front().data.size() || record_ < front().records.size()) return;
  --count_;
  // An empty queue begins again at the first chunk, whose memory is still in the cache.
  first_ = count_ == 0 ? 0 : index_of(1);
  front_begun_ = false;
  extent_ = record_ = control_sent_ = 0;
  extent_sent_ = 0;
}

void PostQueue::clear() {
  first_ = count_ = placed_count_ = 0;
  overflowed_ = front_begun_ = false;
  extent_ = record_ = control_sent_ = 0;
  extent_sent_ = 0;
}

}  // namespace tutti
