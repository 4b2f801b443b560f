#include "fabric/tcp/frame_writer.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti::tcp {

std::span<const iovec> FrameWriter::gather(const PostQueue& queue) {
  piece_count_ = header_count_ = gathered_bytes_ = 0;
  skip_bytes_ = sent_;
  bool room = true;
  for (std::size_t chunk = 0; room && chunk < queue.chunk_count(); ++chunk) {
    for (const Extent& data : queue.data_of(chunk)) {
      room = add_frame(make_header(kDataMagic, data.bytes, epoch_, data.offset),
                       own_row_ + data.offset);
      if (!room) break;
    }
    const std::span<const std::byte> control = queue.frame_of(chunk);
    if (!room || control.empty()) continue;
    const auto bytes = static_cast<std::uint32_t>(control.size());
    room = add_frame(make_header(kControlMagic, bytes, epoch_, payload_check(control)),
                     control.data());
  }
  return {pieces_.data(), piece_count_};
}

// Returns false when no more fits. Half a frame is fine: the next gather() goes on inside it.
bool FrameWriter::add_frame(const FrameHeader& header, const std::byte* payload) {
  FrameHeader& kept = headers_[header_count_++];
  kept = header;
  return add_piece(&kept, sizeof(kept)) && add_piece(payload, header.bytes) &&
         header_count_ < headers_.size();
}

bool FrameWriter::add_piece(const void* bytes, std::size_t size) {
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

void FrameWriter::advance(PostQueue& queue, std::size_t bytes) {
  sent_ += bytes;
  while (sent_ > 0) {
    const std::optional<Extent> data = queue.next_data();
    const std::size_t payload = data ? data->bytes : queue.next_frame(true).size();
    TUTTI_ASSERT(payload > 0, sent_);
    if (sent_ < kFrameHeaderBytes + payload) return queue.close_front();  // FW2
    sent_ -= kFrameHeaderBytes + payload;
    if (data) {
      queue.data_sent(data->bytes);
    } else {
      queue.frame_sent(payload);
    }
    ++frames_sent_;
    payload_sent_ += payload;
  }
}

}  // namespace tutti::tcp
