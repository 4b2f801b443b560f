/// \file record.hpp
/// What a message of a bundle is: a header, then a payload. All numbers are little-endian.
///
///     0   kind u8, flags u8, payload_at u16, topic u32
///     8   without kUnstampedFlag: source timestamp u64 (ns since 1970)
///     then, with kKeyedFlag: the hash of the sample's key, u64
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
inline constexpr std::uint8_t kUnstampedFlag = 2;
inline constexpr std::uint8_t kKnownFlags = kKeyedFlag | kUnstampedFlag;

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

/// What stands before the payload at least.
[[nodiscard]] constexpr std::uint32_t header_bytes(std::uint8_t flags) {
  return 8 + ((flags & kUnstampedFlag) != 0 ? 0 : 8) + ((flags & kKeyedFlag) != 0 ? 8 : 0);
}

/// Where the payload of a sample with these flags begins: at a multiple of the type's alignment.
[[nodiscard]] constexpr std::uint32_t payload_offset(std::uint8_t flags, std::uint32_t alignment) {
  const std::uint32_t unit = alignment < 8 ? 8 : alignment;
  return (header_bytes(flags) + unit - 1) / unit * unit;
}

struct Record {
  RecordHeader header{};
  std::uint64_t key = 0;
  std::span<const std::byte> payload{};
  [[nodiscard]] RecordKind kind() const { return static_cast<RecordKind>(header.kind); }
};

/// Empty: the bytes are no record of this version. The flags say where its parts are: with one that
/// is not known it could only be read wrongly.
[[nodiscard]] inline std::optional<Record> read_record(std::span<const std::byte> bytes) {
  constexpr std::size_t kAlways = offsetof(RecordHeader, source_timestamp);
  Record record;
  if (bytes.size() < kAlways) return {};
  std::memcpy(&record.header, bytes.data(), kAlways);
  const std::uint8_t flags = record.header.flags;
  if ((flags & ~kKnownFlags) != 0) return {};
  const std::uint32_t header = header_bytes(flags);
  if (record.header.payload_at < header || record.header.payload_at > bytes.size()) return {};
  if ((flags & kUnstampedFlag) == 0) {
    std::memcpy(&record.header.source_timestamp, bytes.data() + kAlways,
                sizeof record.header.source_timestamp);
  }
  if ((flags & kKeyedFlag) != 0) {
    std::memcpy(&record.key, bytes.data() + header - sizeof record.key, sizeof record.key);
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

/// Returns how many bytes it wrote.
inline std::uint32_t write_header(std::byte* at, const RecordHeader& header) {
  if ((header.flags & kUnstampedFlag) != 0) {
    constexpr std::size_t kAlways = offsetof(RecordHeader, source_timestamp);
    std::memcpy(at, &header, kAlways);
    return kAlways;
  }
  std::memcpy(at, &header, sizeof header);
  return sizeof header;
}

}  // namespace tutti::dds
