/// \file snapshot_format.hpp
/// What lies in the file of a snapshot, which has a group's state after exactly the messages before
/// its number: a header of kHeaderBytes, then the state in blocks. All numbers are little-endian.
///
///     0       header; zeros; its checksum in the last 4 bytes
///     4096    block 0: checksum (4), length (4), so many bytes of the state
///     69632   block 1, ...; all blocks but the last are full
///
/// Invariant SF1: each block has a checksum over the header's salt, its own index, its length and
/// its data. The salt is a new random number for each snapshot: blocks of two snapshots, or in
/// another order, are never one. Source: docs/log.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "log/format.hpp"
#include "tutti/error.hpp"

namespace tutti::log {

inline constexpr char kSnapshotMagic[8] = {'T', 'U', 'T', 'T', 'I', 'S', 'N', 'P'};
inline constexpr std::uint32_t kSnapshotVersion = 1;
inline constexpr std::size_t kBlockHeaderBytes = 8;
inline constexpr std::size_t kBlockBytes = 64U << 10;
/// The bytes of the state in a full block.
inline constexpr std::size_t kBlockDataBytes = kBlockBytes - kBlockHeaderBytes;

/// What a snapshot's header says.
struct Snapshot {
  Identity identity{};       ///< of the log of the member that took it
  std::uint64_t salt = 0;    ///< SF1
  std::uint64_t origin = 0;  ///< which founding of the group it belongs to
  std::uint64_t seq = 0;     ///< the number of the first message that it does not have
  std::uint64_t view = 0;    ///< in which the member stood there
  std::uint64_t bytes = 0;   ///< of the state
  bool operator==(const Snapshot&) const = default;
};

/// The size of the file of a state of so many bytes; nothing if no file is so large.
[[nodiscard]] std::optional<std::uint64_t> snapshot_file_bytes(std::uint64_t state_bytes);

/// The kHeaderBytes of the file.
[[nodiscard]] std::string encode_snapshot(const Snapshot& snapshot);
/// The error says what is wrong with it, but not which file it is.
[[nodiscard]] Result<Snapshot> decode_snapshot(std::span<const std::byte> bytes);

/// The checksum of a block (SF1).
[[nodiscard]] std::uint32_t block_checksum(std::uint64_t salt, std::uint64_t index,
                                           std::span<const std::byte> data);

/// The name of the snapshot before that number, and back.
[[nodiscard]] std::string snapshot_name(std::uint64_t seq);
[[nodiscard]] std::optional<std::uint64_t> seq_of_snapshot(const std::string& name);

}  // namespace tutti::log
