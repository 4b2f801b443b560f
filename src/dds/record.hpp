/// \file record.hpp
/// What a message of a bundle is: a header, then a payload. All numbers are little-endian.
///
///     0   kind u8, flags u8, payload_at u16, topic u32, source timestamp u64 (ns since 1970)
///     16  with kKeyedFlag: the hash of the sample's key, u64
///     payload_at ..: the payload
///
/// Definitions and deletions of topics are records in the bundle itself (but not in an unordered
/// one), so that what its sequence means is a function of the sequence alone: a log explains
/// itself, and a member that joins needs no other group.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace tutti::dds {

enum class RecordKind : std::uint8_t {
  sample = 1,
  definition = 2,  ///< payload: Definition; from here on the topic exists
  deletion = 3,    ///< no payload; the topic exists no more
  mark = 4,        ///< nothing: its sender waits until it comes back
  // What relays write for clients that are no members (session_record.hpp).
  client_sample = 5,
  session_open = 6,
  session_close = 7,
  session_expire = 8,
};

inline constexpr std::uint8_t kKeyedFlag = 1;

struct RecordHeader {
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint16_t payload_at;
  std::uint32_t topic;
  std::uint64_t source_timestamp;
};
static_assert(sizeof(RecordHeader) == 16);

/// The most that stands before a payload, but for types with a larger alignment.
inline constexpr std::size_t kRecordOverhead = 64;

/// Where the payload begins: behind the header, at a multiple of the type's alignment.
[[nodiscard]] constexpr std::uint32_t payload_offset(bool keyed, std::uint32_t alignment) {
  const std::uint32_t header = keyed ? 24 : 16;
  const std::uint32_t unit = alignment < 8 ? 8 : alignment;
  return (header + unit - 1) / unit * unit;
}

struct Record {
  RecordHeader header{};
  std::uint64_t key = 0;
  std::span<const std::byte> payload{};
  [[nodiscard]] RecordKind kind() const { return static_cast<RecordKind>(header.kind); }
};

/// Empty: the bytes are no record.
[[nodiscard]] inline std::optional<Record> read_record(std::span<const std::byte> bytes) {
  Record record;
  if (bytes.size() < sizeof(RecordHeader)) return {};
  std::memcpy(&record.header, bytes.data(), sizeof(RecordHeader));
  const bool keyed = (record.header.flags & kKeyedFlag) != 0;
  const std::size_t least = sizeof(RecordHeader) + (keyed ? sizeof record.key : 0);
  if (record.header.payload_at < least || record.header.payload_at > bytes.size()) return {};
  if (keyed) {
    std::memcpy(&record.key, bytes.data() + sizeof(RecordHeader), sizeof record.key);
  }
  record.payload = bytes.subspan(record.header.payload_at);
  return record;
}

/// Whether the record may be a sample of a topic: in place it has exactly `in_place_bytes` (0: any
/// size), and it lies as its type is aligned.
[[nodiscard]] inline bool fits_type(const Record& record, std::uint32_t in_place_bytes,
                                    std::uint32_t alignment) {
  return (in_place_bytes == 0 || record.payload.size() == in_place_bytes) &&
         record.header.payload_at % alignment == 0;
}

inline void write_header(std::byte* at, const RecordHeader& header) {
  std::memcpy(at, &header, sizeof header);
}

}  // namespace tutti::dds
