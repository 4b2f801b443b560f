#include "fabric/ofi/control_ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/assert.hpp"
#include "fabric/control_record.hpp"
#include "fabric/row_header.hpp"
#include "fabric/tcp/frame.hpp"

namespace tutti::ofi {
namespace {

constexpr std::size_t kReservedPartsBytes = 2 * kPartBytesMax;

/// The peer's provider stores here while we look: each word once, and the position before all else
/// (acquire: what its order of writes says, we see).
PartHeader load_header(const std::byte* at) {
  const auto* words = reinterpret_cast<const std::atomic<std::uint64_t>*>(at);
  PartHeader header;
  header.position = words[0].load(std::memory_order_acquire);
  const std::uint64_t kind = words[1].load(std::memory_order_relaxed);
  header.bytes = static_cast<std::uint32_t>(kind);
  header.last = static_cast<std::uint32_t>(kind >> 32);
  header.check = words[2].load(std::memory_order_acquire);
  return header;
}

}  // namespace

std::uint64_t part_check(const PartHeader& header, std::span<const std::byte> payload) {
  const std::uint64_t kind = header.bytes | (std::uint64_t{header.last} << 32);
  return tcp::mix(tcp::mix(tcp::payload_check(payload) ^ 0x7475747469, header.position), kind);
}

bool RingWriter::has_room(std::size_t rest_bytes, std::uint64_t consumed) const {
  const std::size_t bytes = kPartHeaderBytes + std::min(rest_bytes, kPartPayloadMax);
  return part_start(position_) + bytes - consumed <= kRingBytes;
}

std::optional<RingWriter::Part> RingWriter::build(std::span<const std::byte> rest,
                                                  std::uint64_t consumed) {
  if (!has_room(rest.size(), consumed)) return std::nullopt;
  const std::size_t payload = std::min(rest.size(), kPartPayloadMax);
  const std::uint64_t start = part_start(position_);
  const std::size_t bytes = kPartHeaderBytes + payload;
  PartHeader header{.position = start,
                    .bytes = static_cast<std::uint32_t>(payload),
                    .last = payload == rest.size() ? 1U : 0U};
  header.check = part_check(header, rest.first(payload));
  std::byte* const at = mirror_.data() + start % kRingBytes;
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, rest.data(), payload);
  return Part{.offset = start % kRingBytes,
              .bytes = static_cast<std::uint32_t>(bytes),
              .payload = static_cast<std::uint32_t>(payload)};
}

RingReader::RingReader(std::span<const std::byte> ring, std::span<std::byte> row)
    : ring_(ring), row_(row) {
  TUTTI_ASSERT(ring.size() == kRingBytes, ring.size());
  frame_.reserve(kReservedPartsBytes);
}

std::size_t RingReader::poll() {
  std::size_t frames = 0;
  while (error_.empty() && take_part()) {
    if (!whole_) continue;
    if (!apply()) return frames;
    frame_.clear();
    whole_ = false;
    ++frames;
  }
  return frames;
}

// A part whose check does not match may still be on its way: it is looked at again.
bool RingReader::take_part() {
  const std::uint64_t start = part_start(position_);
  const std::byte* const at = ring_.data() + start % kRingBytes;
  const PartHeader header = load_header(at);
  if (header.position != start || header.bytes > kPartPayloadMax || header.bytes % 8 != 0 ||
      header.last > 1) {
    return false;
  }
  const std::size_t before = frame_.size();
  frame_.resize(before + header.bytes);
  std::memcpy(frame_.data() + before, at + kPartHeaderBytes, header.bytes);
  // The copy is what is checked and applied: nothing can change under it.
  if (part_check(header, std::span(frame_).subspan(before)) != header.check) {
    frame_.resize(before);
    return false;
  }
  if (frame_.size() > kControlBytesMax) {
    error_ = "it sent control words of more than " + std::to_string(kControlBytesMax) + " bytes";
    return false;
  }
  position_ = start + kPartHeaderBytes + header.bytes;
  whole_ = header.last == 1;
  return true;
}

bool RingReader::apply() {
  std::size_t at = 0;
  while (at < frame_.size()) {
    ControlRecord record;
    if (frame_.size() - at < sizeof record) break;
    std::memcpy(&record, frame_.data() + at, sizeof record);
    at += sizeof record;
    const bool placed = record.offset >= kRowHeaderBytes && record.offset % 8 == 0 &&
                        record.bytes % 8 == 0 && record.offset <= row_.size() &&
                        record.bytes <= row_.size() - record.offset;
    if (!placed || record.bytes > frame_.size() - at) break;
    for (std::uint64_t done = 0; done < record.bytes; done += 8) {
      std::uint64_t word;
      std::memcpy(&word, frame_.data() + at + done, sizeof word);
      auto* target = reinterpret_cast<std::uint64_t*>(row_.data() + record.offset + done);
      // Pairs with the acquire loads of whoever reads the row on another thread.
      std::atomic_ref<std::uint64_t>(*target).store(word, std::memory_order_release);
    }
    at += record.bytes;
  }
  if (at == frame_.size()) return true;
  error_ = "it sent control words that lie outside of its row";
  return false;
}

}  // namespace tutti::ofi
