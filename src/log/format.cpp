#include "log/format.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/crc32c.hpp"

namespace tutti::log {
namespace {

static_assert(std::endian::native == std::endian::little);

// The first part of a header; its checksum is in the last 4 bytes of kHeaderBytes.
struct RawHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t number;
  std::uint64_t salt;
  std::uint64_t first;
  std::uint64_t digest;
  std::uint64_t bytes;
  std::uint64_t before;
  std::uint32_t begins;
  std::uint16_t node_bytes;
  std::uint16_t group_bytes;
  char node[256];
  char group[256];
};
static_assert(sizeof(RawHeader) == 584 && std::is_trivially_copyable_v<RawHeader>);
constexpr std::size_t kCrcAt = kHeaderBytes - sizeof(std::uint32_t);

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// LF1. `content` is crc32c of the data.
std::uint32_t checksum(const RecordHeader& header, std::uint32_t content, std::uint64_t salt,
                       std::uint64_t offset) {
  struct {
    std::uint64_t salt, offset;
    RecordHeader header;
    std::uint32_t content, unused;
  } all{salt, offset, header, content, 0};
  all.header.crc = 0;
  return crc32c(std::as_bytes(std::span(&all, 1)));
}

// LF4.
std::uint64_t digest_of(const RecordHeader& header, std::uint32_t content) {
  const std::uint64_t what = (std::uint64_t{content} << 32) | header.length;
  const std::uint64_t whose = (std::uint64_t{header.sender} << 32) | header.flags;
  return mix(mix(mix(what) ^ whose ^ (header.view << 16)) + header.seq);
}

std::string text(std::span<const char> bytes, std::size_t size) { return {bytes.data(), size}; }

}  // namespace

Commit Found::commit() const {
  Commit out{};
  std::memcpy(&out, data.data(), sizeof out);
  return out;
}

Record Found::record() const {
  return {.seq = header.seq,
          .view = header.view,
          .sender = header.sender,
          .tick = (header.flags & kTickFlag) != 0,
          .data = data};
}

std::uint64_t seal(std::span<std::byte> record, std::uint64_t salt, std::uint64_t offset) {
  RecordHeader header{};
  std::memcpy(&header, record.data(), sizeof header);
  const std::uint32_t content = crc32c(record.subspan(sizeof header));
  header.crc = checksum(header, content, salt, offset);
  std::memcpy(record.data(), &header.crc, sizeof header.crc);
  return (header.flags & kCommitFlag) != 0 ? 0 : digest_of(header, content);
}

std::optional<Found> find_record(std::span<const std::byte> bytes, std::uint64_t salt,
                                 std::uint64_t offset) {
  if (bytes.size() < sizeof(RecordHeader)) return {};
  Found found{};
  std::memcpy(&found.header, bytes.data(), sizeof found.header);
  const RecordHeader& header = found.header;
  const bool commit = found.is_commit();
  if (header.length > kRecordBytesMax || found.bytes() > bytes.size()) return {};
  if (commit && header.length != sizeof(Commit)) return {};
  if ((header.flags & ~(kTickFlag | kCommitFlag | kGoesOnFlag)) != 0) return {};
  const auto padded = bytes.subspan(sizeof header, found.bytes() - sizeof header);
  const std::uint32_t content = crc32c(padded);
  if (header.crc != checksum(header, content, salt, offset)) return {};
  found.data = padded.first(header.length);
  found.digest = commit ? 0 : digest_of(header, content);
  return found;
}

std::uint64_t digest_of(const Record& record) {
  static constexpr std::array<std::byte, 8> kPadding{};
  const std::size_t padding = bytes_of_record(record.data.size()) - bytes_of_record(0);
  const std::uint32_t content =
      crc32c(std::span(kPadding).first(padding - record.data.size()), crc32c(record.data));
  return digest_of({.crc = 0,
                    .length = static_cast<std::uint32_t>(record.data.size()),
                    .seq = record.seq,
                    .view = record.view,
                    .sender = record.sender,
                    .flags = record.tick ? kTickFlag : 0},
                   content);
}

std::string encode_header(const Segment& segment) {
  RawHeader raw{};
  std::memcpy(raw.magic, kSegmentMagic, sizeof raw.magic);
  raw.version = kFormatVersion;
  raw.header_bytes = kHeaderBytes;
  raw.number = segment.number;
  raw.salt = segment.salt;
  raw.first = segment.first;
  raw.digest = segment.digest;
  raw.bytes = segment.bytes;
  raw.before = segment.before;
  raw.begins = segment.begins ? 1 : 0;
  raw.node_bytes = static_cast<std::uint16_t>(segment.identity.node.copy(raw.node, kNameBytesMax));
  raw.group_bytes =
      static_cast<std::uint16_t>(segment.identity.group.copy(raw.group, kNameBytesMax));
  std::string out(kHeaderBytes, '\0');
  std::memcpy(out.data(), &raw, sizeof raw);
  const std::uint32_t crc = crc32c(std::as_bytes(std::span(out)).first(kCrcAt));
  std::memcpy(out.data() + kCrcAt, &crc, sizeof crc);
  return out;
}

Result<Segment> decode_header(std::span<const std::byte> bytes) {
  constexpr auto kDamaged = ErrorCode::invalid_argument;
  if (bytes.size() < kHeaderBytes) return fail(kDamaged, "it is too short to have a header");
  RawHeader raw{};
  std::memcpy(&raw, bytes.data(), sizeof raw);
  if (std::memcmp(raw.magic, kSegmentMagic, sizeof raw.magic) != 0) {
    return fail(kDamaged, "it does not begin as a segment of a log does");
  }
  std::uint32_t crc = 0;
  std::memcpy(&crc, bytes.data() + kCrcAt, sizeof crc);
  if (crc != crc32c(bytes.first(kCrcAt))) return fail(kDamaged, "its header's checksum is wrong");
  if (raw.version != kFormatVersion) {
    return fail(ErrorCode::mismatch, "it has version " + std::to_string(raw.version) +
                                         " of the format, and this program reads version " +
                                         std::to_string(kFormatVersion));
  }
  if (raw.node_bytes > kNameBytesMax || raw.group_bytes > kNameBytesMax ||
      raw.bytes < kHeaderBytes || raw.bytes % 8 != 0) {
    return fail(kDamaged, "its header has sizes that cannot be");
  }
  return Segment{.identity = {text(raw.node, raw.node_bytes), text(raw.group, raw.group_bytes)},
                 .number = raw.number,
                 .salt = raw.salt,
                 .first = raw.first,
                 .digest = raw.digest,
                 .bytes = raw.bytes,
                 .begins = raw.begins != 0,
                 .before = raw.before};
}

}  // namespace tutti::log
