#include "log/snapshot_format.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/crc32c.hpp"

namespace tutti::log {
namespace {

constexpr std::string_view kPrefix = "snapshot-";
constexpr std::size_t kSeqDigits = 20;
constexpr std::size_t kSumAt = kHeaderBytes - sizeof(std::uint32_t);

struct RawSnapshot {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t salt;
  std::uint64_t origin;
  std::uint64_t seq;
  std::uint64_t view;
  std::uint64_t bytes;
  std::uint32_t block_bytes;
  std::uint16_t node_bytes;
  std::uint16_t group_bytes;
  char node[kNameBytesMax + 1];
  char group[kNameBytesMax + 1];
};
static_assert(std::is_trivially_copyable_v<RawSnapshot> && sizeof(RawSnapshot) == 576);

}  // namespace

std::optional<std::uint64_t> snapshot_file_bytes(std::uint64_t state_bytes) {
  if (state_bytes > std::numeric_limits<std::uint64_t>::max() / 2) return {};
  const std::uint64_t rest = state_bytes % kBlockDataBytes;
  return kHeaderBytes + state_bytes / kBlockDataBytes * kBlockBytes +
         (rest == 0 ? 0 : kBlockHeaderBytes + rest);
}

std::string encode_snapshot(const Snapshot& snapshot) {
  RawSnapshot raw{};
  std::memcpy(raw.magic, kSnapshotMagic, sizeof raw.magic);
  raw.version = kSnapshotVersion;
  raw.header_bytes = kHeaderBytes;
  raw.salt = snapshot.salt;
  raw.origin = snapshot.origin;
  raw.seq = snapshot.seq;
  raw.view = snapshot.view;
  raw.bytes = snapshot.bytes;
  raw.block_bytes = kBlockBytes;
  raw.node_bytes = static_cast<std::uint16_t>(snapshot.identity.node.copy(raw.node, kNameBytesMax));
  raw.group_bytes =
      static_cast<std::uint16_t>(snapshot.identity.group.copy(raw.group, kNameBytesMax));
  std::string out(kHeaderBytes, '\0');
  std::memcpy(out.data(), &raw, sizeof raw);
  const std::uint32_t sum = crc32c(std::as_bytes(std::span(out)).first(kSumAt));
  std::memcpy(out.data() + kSumAt, &sum, sizeof sum);
  return out;
}

Result<Snapshot> decode_snapshot(std::span<const std::byte> bytes) {
  constexpr auto kWrong = ErrorCode::damaged;
  if (bytes.size() < kHeaderBytes) return fail(kWrong, "it is too short to have a header");
  RawSnapshot raw{};
  std::memcpy(&raw, bytes.data(), sizeof raw);
  if (std::memcmp(raw.magic, kSnapshotMagic, sizeof raw.magic) != 0) {
    return fail(kWrong, "it does not begin as a snapshot does");
  }
  std::uint32_t sum = 0;
  std::memcpy(&sum, bytes.data() + kSumAt, sizeof sum);
  if (sum != crc32c(bytes.first(kSumAt))) return fail(kWrong, "its header's checksum is wrong");
  if (raw.version != kSnapshotVersion) {
    return fail(ErrorCode::mismatch, "it has version " + std::to_string(raw.version) +
                                         " of the format, and this program reads version " +
                                         std::to_string(kSnapshotVersion));
  }
  if (raw.node_bytes > kNameBytesMax || raw.group_bytes > kNameBytesMax ||
      raw.block_bytes != kBlockBytes || !snapshot_file_bytes(raw.bytes)) {
    return fail(kWrong, "its header has sizes that cannot be");
  }
  return Snapshot{
      .identity = {std::string(raw.node, raw.node_bytes), std::string(raw.group, raw.group_bytes)},
      .salt = raw.salt,
      .origin = raw.origin,
      .seq = raw.seq,
      .view = raw.view,
      .bytes = raw.bytes};
}

std::uint32_t block_checksum(std::uint64_t salt, std::uint64_t index,
                             std::span<const std::byte> data) {
  const std::array<std::uint64_t, 3> place{salt, index, data.size()};
  return crc32c(data, crc32c(std::as_bytes(std::span(place))));
}

std::string snapshot_name(std::uint64_t seq) {
  const std::string digits = std::to_string(seq);
  return std::string(kPrefix) + std::string(kSeqDigits - digits.size(), '0') + digits;
}

std::optional<std::uint64_t> seq_of_snapshot(const std::string& name) {
  if (name.size() != kPrefix.size() + kSeqDigits || !name.starts_with(kPrefix)) return {};
  std::uint64_t seq = 0;
  const char* const end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data() + kPrefix.size(), end, seq);
  if (error != std::errc{} || stopped != end) return {};
  return seq;
}

}  // namespace tutti::log
