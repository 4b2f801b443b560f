#include "fabric/tcp/send_queue.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "fabric/row_header.hpp"

namespace tutti::tcp {
namespace {

constexpr std::size_t kReservedPosts = 64;
constexpr std::size_t kReservedControlBytes = 4096;
constexpr std::ptrdiff_t kMergeDepth =
    16;  // extents looked at for one that ends where a post starts

}  // namespace

SendQueue::SendQueue(const std::byte* own_row, std::uint64_t epoch)
    : own_row_(own_row), epoch_(epoch) {
  for (Chunk& chunk : chunks_) {
    chunk.data.reserve(kReservedPosts);
    chunk.cells.reserve(kReservedPosts);
    chunk.control.reserve(kReservedControlBytes);
  }
}

SendQueue::Chunk& SendQueue::open_chunk() {
  TUTTI_ASSERT(count_ < kChunksMax, count_);
  Chunk& chunk = chunk_at(count_++);
  chunk.data.clear();
  chunk.cells.clear();
  chunk.control.clear();
  chunk.data_bytes = 0;
  return chunk;
}

// A sender posts again what a view left over, and to a slow peer it may still wait since then: it
// is read in place once for both posts, before the words of either.
bool SendQueue::is_queued(Extent data) {
  for (std::size_t index = sent_ == 0 ? 0 : 1; index < count_; ++index) {
    const std::vector<Data>& waits = chunk_at(index).data;
    const auto deepest = std::min<std::ptrdiff_t>(std::ssize(waits), kMergeDepth);
    const auto covers = [&](const Data& extent) {
      return extent.offset <= data.offset &&
             extent.offset + extent.bytes >= data.offset + data.bytes;
    };
    if (std::any_of(waits.rbegin(), waits.rbegin() + deepest, covers)) return true;
  }
  return false;
}

void SendQueue::write(Extent data) {
  TUTTI_ASSERT(data.offset >= kRowHeaderBytes, data.offset);
  if (data.bytes == 0 || is_queued(data)) return;
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
  chunk.data.push_back({data.offset, data.bytes});
}

void SendQueue::publish(std::uint64_t offset, std::span<const std::byte> words) {
  TUTTI_ASSERT(offset >= kRowHeaderBytes && offset % 8 == 0 && words.size() % 8 == 0, offset,
               words.size());
  if (words.empty()) return;
  Chunk& chunk = last_is_closed() ? open_chunk() : chunk_at(count_ - 1);
  remove_covered(chunk, offset, words.size());
  const std::size_t position = chunk.control.size();
  TUTTI_ASSERT(position + kControlRecordBytes + words.size() <= kControlBytesMax, position);
  chunk.cells.push_back(
      {offset, static_cast<std::uint32_t>(words.size()), static_cast<std::uint32_t>(position)});
  chunk.control.resize(position + kControlRecordBytes + words.size());
  const ControlRecord record{.offset = offset, .bytes = words.size()};
  std::memcpy(chunk.control.data() + position, &record, sizeof(record));
  std::memcpy(chunk.control.data() + position + sizeof(record), words.data(), words.size());
}

// Older words that the new ones cover go; the new ones go to the end, as a record that overlaps
// only in part may be among those in between, and the newest value must be stored last.
void SendQueue::remove_covered(Chunk& chunk, std::uint64_t offset, std::size_t bytes) {
  for (std::size_t index = chunk.cells.size(); index-- > 0;) {
    const Cell cell = chunk.cells[index];
    if (cell.offset < offset || cell.offset + cell.bytes > offset + bytes) continue;
    const std::uint32_t gap = cell.bytes + static_cast<std::uint32_t>(kControlRecordBytes);
    const auto at = chunk.control.begin() + cell.position;
    chunk.control.erase(at, at + gap);
    chunk.cells.erase(chunk.cells.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::size_t later = index; later < chunk.cells.size(); ++later) {
      chunk.cells[later].position -= gap;
    }
  }
}

std::span<const iovec> SendQueue::gather() {
  piece_count_ = header_count_ = gathered_bytes_ = 0;
  skip_bytes_ = sent_ - gone_bytes_;
  bool room = true;
  for (std::size_t index = 0; room && index < count_; ++index) {
    const Chunk& chunk = chunk_at(index);
    for (std::size_t i = index == 0 ? gone_ : 0; room && i < chunk.data.size(); ++i) {
      const Data& data = chunk.data[i];
      room = add_frame(make_header(kDataMagic, data.bytes, epoch_, data.offset),
                       own_row_ + data.offset);
    }
    if (!room || chunk.cells.empty()) continue;
    const auto bytes = static_cast<std::uint32_t>(chunk.control.size());
    room = add_frame(make_header(kControlMagic, bytes, epoch_, payload_check(chunk.control)),
                     chunk.control.data());
  }
  return {pieces_.data(), piece_count_};
}

// Returns false when no more fits. Half a frame is fine: the next gather() goes on inside it.
bool SendQueue::add_frame(const FrameHeader& header, const std::byte* payload) {
  FrameHeader& kept = headers_[header_count_++];
  kept = header;
  return add_piece(&kept, sizeof(kept)) && add_piece(payload, header.bytes) &&
         header_count_ < headers_.size();
}

bool SendQueue::add_piece(const void* bytes, std::size_t size) {
  const std::size_t skipped = std::min(skip_bytes_, size);
  skip_bytes_ -= skipped;
  if (skipped == size) return true;
  const std::size_t taken = std::min(size - skipped, kGatherBytesMax - gathered_bytes_);
  // An iovec has no const: sendmsg only reads through it.
  auto* begin = const_cast<std::byte*>(static_cast<const std::byte*>(bytes)) + skipped;
  pieces_[piece_count_++] = {begin, taken};
  gathered_bytes_ += taken;
  return piece_count_ < pieces_.size() && gathered_bytes_ < kGatherBytesMax;
}

void SendQueue::advance(std::size_t bytes) {
  sent_ += bytes;
  while (count_ > 0) {
    const Chunk& chunk = chunk_at(0);
    const std::size_t wire_bytes = chunk.wire_bytes();
    if (sent_ < wire_bytes) return skip_gone(chunk);
    sent_ -= wire_bytes;
    gone_ = gone_bytes_ = 0;
    frames_sent_ += chunk.frames();
    payload_sent_ += chunk.data_bytes + chunk.control.size();
    first_ = (first_ + 1) % kChunksMax;
    --count_;
  }
  TUTTI_ASSERT(sent_ == 0, sent_);
}

// Else each gather() would look again at all that has gone.
void SendQueue::skip_gone(const Chunk& chunk) {
  for (; gone_ < chunk.data.size(); ++gone_) {
    const std::size_t frame_bytes = kFrameHeaderBytes + chunk.data[gone_].bytes;
    if (gone_bytes_ + frame_bytes > sent_) return;
    gone_bytes_ += frame_bytes;
  }
}

void SendQueue::clear() { first_ = count_ = sent_ = gone_ = gone_bytes_ = 0; }

}  // namespace tutti::tcp
