#include "fabric/tcp/frame_reader.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/assert.hpp"
#include "fabric/row_header.hpp"

namespace tutti::tcp {
namespace {

// Large enough that many small frames come with one system call, small enough that most of a large
// frame is received in place and that the buffer stays in the nearest cache.
constexpr std::size_t kStagingBytes = 64 * 1024;

}  // namespace

FrameReader::FrameReader(std::span<std::byte> row, std::uint64_t epoch)
    : row_(row), epoch_(epoch), staging_(kStagingBytes) {
  TUTTI_ASSERT(reinterpret_cast<std::uintptr_t>(row.data()) % 8 == 0);
}

std::span<const iovec> FrameReader::targets() {
  if (!error_.empty()) return {};
  if (direct_bytes_ > 0) {
    targets_[0] = {direct_, direct_bytes_};
    targets_[1] = {staging_.data(), staging_.size()};
    return targets_;
  }
  if (staged_begin_ > 0) {
    std::memmove(staging_.data(), staging_.data() + staged_begin_, staged());
    staged_end_ = staged();
    staged_begin_ = 0;
  }
  targets_[0] = {staging_.data() + staged_end_, staging_.size() - staged_end_};
  return {targets_.data(), 1};
}

std::size_t FrameReader::arrived(std::size_t bytes) {
  landed_ = 0;
  if (!error_.empty()) return 0;
  if (direct_bytes_ > 0) {
    const std::size_t taken = std::min(bytes, direct_bytes_);
    direct_ += taken;
    direct_bytes_ -= taken;
    bytes -= taken;
    if (direct_bytes_ > 0) return 0;
    ++landed_;
  }
  staged_end_ += bytes;
  TUTTI_ASSERT(staged_end_ <= staging_.size(), staged_end_);
  while (parse_frame() == Step::applied) {
  }
  if (staged_begin_ == staged_end_) staged_begin_ = staged_end_ = 0;
  return landed_;
}

bool FrameReader::in_frame() const {
  return direct_bytes_ > 0 || skipped_bytes_ > 0 || staged() > 0;
}

FrameReader::Step FrameReader::parse_frame() {
  if (skipped_bytes_ > 0) {
    const std::size_t skipped = std::min(skipped_bytes_, staged());
    skipped_bytes_ -= skipped;
    staged_begin_ += skipped;
  }
  if (staged() < kFrameHeaderBytes) return Step::incomplete;
  FrameHeader header;
  std::memcpy(&header, staging_.data() + staged_begin_, sizeof(header));
  if (!header_valid(header)) return Step::incomplete;
  if (header.epoch != epoch_) {
    ++stale_frames_;
    staged_begin_ += kFrameHeaderBytes;
    skipped_bytes_ = header.bytes;
    return Step::applied;
  }
  return header.magic == kDataMagic ? start_data(header) : apply_control(header);
}

bool FrameReader::header_valid(const FrameHeader& header) {
  if (header.magic != kDataMagic && header.magic != kControlMagic) {
    corrupt("it does not begin as a frame does");
  } else if (header.check != header_check(header)) {
    corrupt("its header's check is wrong");
  } else if (header.bytes == 0) {
    corrupt("it is empty");
  } else {
    return true;
  }
  return false;
}

bool FrameReader::inside_row(std::uint64_t offset, std::uint64_t bytes) const {
  return offset >= kRowHeaderBytes && offset <= row_.size() && bytes <= row_.size() - offset;
}

FrameReader::Step FrameReader::start_data(const FrameHeader& header) {
  if (!inside_row(header.offset_or_check, header.bytes))
    return corrupt("its offset is outside the row");
  staged_begin_ += kFrameHeaderBytes;
  const std::size_t here = std::min<std::size_t>(header.bytes, staged());
  std::byte* const target = row_.data() + header.offset_or_check;
  std::memcpy(target, staging_.data() + staged_begin_, here);
  staged_begin_ += here;
  direct_ = target + here;
  direct_bytes_ = header.bytes - here;
  if (direct_bytes_ > 0) {
    staged_begin_ = staged_end_ = 0;  // all of it was used: targets() gives the buffer anew
    return Step::incomplete;
  }
  ++landed_;
  return Step::applied;
}

FrameReader::Step FrameReader::apply_control(const FrameHeader& header) {
  if (header.bytes > kControlBytesMax || header.bytes % 8 != 0) {
    return corrupt("its length is not that of control words");
  }
  const std::size_t frame_bytes = kFrameHeaderBytes + header.bytes;
  if (staged() < frame_bytes) {
    if (staging_.size() < frame_bytes) staging_.resize(frame_bytes);
    return Step::incomplete;
  }
  const std::span<const std::byte> payload(staging_.data() + staged_begin_ + kFrameHeaderBytes,
                                           header.bytes);
  if (payload_check(payload) != header.offset_or_check)
    return corrupt("its control words' check is wrong");
  if (!control_valid(payload)) return corrupt("its control words' offset is outside the row");
  store_control(payload);
  staged_begin_ += frame_bytes;
  return Step::applied;
}

bool FrameReader::control_valid(std::span<const std::byte> payload) {
  while (payload.size() > kControlRecordBytes) {
    ControlRecord record;
    std::memcpy(&record, payload.data(), sizeof(record));
    payload = payload.subspan(kControlRecordBytes);
    if (record.bytes == 0 || record.bytes > payload.size()) return false;
    if (record.offset % 8 != 0 || record.bytes % 8 != 0) return false;
    if (!inside_row(record.offset, record.bytes)) return false;
    payload = payload.subspan(record.bytes);
  }
  return payload.empty();
}

void FrameReader::store_control(std::span<const std::byte> payload) {
  while (!payload.empty()) {
    ControlRecord record;
    std::memcpy(&record, payload.data(), sizeof(record));
    for (std::size_t at = 0; at < record.bytes; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, payload.data() + kControlRecordBytes + at, sizeof(word));
      auto* cell = reinterpret_cast<std::uint64_t*>(row_.data() + record.offset + at);
      // Pairs with the acquire load of whichever thread of this node reads the cell: it then sees
      // all data that landed before (FR2).
      std::atomic_ref(*cell).store(word, std::memory_order_release);
    }
    ++landed_;
    payload = payload.subspan(kControlRecordBytes + record.bytes);
  }
}

FrameReader::Step FrameReader::corrupt(std::string what) {
  error_ = "sent a corrupt frame: " + std::move(what);
  return Step::incomplete;
}

}  // namespace tutti::tcp
