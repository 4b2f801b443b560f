/// \file format.hpp
/// What lies in a segment, a file of a log: a header, then batches. A batch is records and a commit
/// that ends it. All numbers are little-endian, everything starts at a multiple of 8.
///
///     0       SegmentHeader, kHeaderBytes with the zeros behind it
///     4096    records of the first batch, its commit; records of the second batch, ...
///     ...     zeros, or what is left of an earlier segment in the same file
///
/// Invariants:
///  LF1  Each record and commit has a checksum over itself, the segment's salt and its own offset.
///       The salt is a new random number for each segment: so what an earlier segment left in the
///       file, or what was written to the wrong place, is never valid.
///  LF2  A batch is written only once the batches before it are synced: a commit says in `begins`
///       the offset before which everything was synced when its batch was written. So a commit
///       proves that what is before `begins` was on disk. A commit without records, a *mark*, is
///       written, and not synced, when nothing else waits: it proves it for the last batch.
///  LF3  Records are numbered without gaps. A commit says the number behind its last record, how
///       many records its batch has, and the digest of the log so far.
///  LF4  The digest is a sum over records, of their contents and numbers, and of nothing that
///       differs between members: logs of members, batched differently, have equal differences of
///       digests between equal numbers, or one of them has something else. It goes on over gaps.
/// Source: DESIGN.md's persistence; etcd's wal (records at 8 bytes, so that lengths do not tear).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "tutti/error.hpp"

namespace tutti::log {

inline constexpr char kSegmentMagic[8] = {'T', 'U', 'T', 'T', 'I', 'L', 'O', 'G'};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kNameBytesMax = 255;
/// A longer record is not one.
inline constexpr std::uint32_t kRecordBytesMax = 16U << 20;

/// Whose log it is.
struct Identity {
  std::string node{};   ///< 1 .. kNameBytesMax bytes
  std::string group{};  ///< likewise
  bool operator==(const Identity&) const = default;
};

/// What a segment's header says.
struct Segment {
  Identity identity{};
  std::uint64_t number = 0;  ///< 1 for the first one of the log, then 2, ...
  std::uint64_t salt = 0;
  std::uint64_t first = 0;   ///< the number of its first record
  std::uint64_t digest = 0;  ///< of the log before it
  std::uint64_t bytes = 0;   ///< the size of the file
  /// Nothing comes before it: the log begins here, or its node was no member for a while.
  bool begins = false;
  /// Of one that begins: the number behind the last record that comes before the gap.
  std::uint64_t before = 0;
};

/// A message, or a tick, in a log.
struct Record {
  std::uint64_t seq = 0;     ///< Message::seq
  std::uint64_t view = 0;    ///< the view in which it was delivered
  std::uint32_t sender = 0;  ///< in Group::members()
  bool tick = false;
  std::span<const std::byte> data{};
};

/// Flags of RecordHeader.
inline constexpr std::uint32_t kTickFlag = 1;
inline constexpr std::uint32_t kCommitFlag = 2;
/// Of a mark: the next segment goes on from here.
inline constexpr std::uint32_t kGoesOnFlag = 4;

struct RecordHeader {
  std::uint32_t crc;     ///< LF1: of salt, offset, the 28 bytes that follow, crc32c of the data
  std::uint32_t length;  ///< of the data; zeros up to a multiple of 8 follow it and count as data
  std::uint64_t seq;     ///< of a commit: the number behind its last record
  std::uint64_t view;
  std::uint32_t sender;  ///< of a commit: how many records its batch has
  std::uint32_t flags;
};
static_assert(sizeof(RecordHeader) == 32 && std::is_trivially_copyable_v<RecordHeader>);

/// The data of a commit.
struct Commit {
  std::uint64_t begins;  ///< LF2
  std::uint64_t digest;  ///< of the log up to here
};
static_assert(sizeof(Commit) == 16 && std::is_trivially_copyable_v<Commit>);
inline constexpr std::size_t kCommitBytes = sizeof(RecordHeader) + sizeof(Commit);

/// What a record takes of a segment.
[[nodiscard]] constexpr std::size_t bytes_of_record(std::size_t length) {
  return sizeof(RecordHeader) + (length + 7) / 8 * 8;
}

/// Puts the checksum into a record that lies in memory, with its padding, for that offset (LF1),
/// and returns what it adds to the digest.
std::uint64_t seal(std::span<std::byte> record, std::uint64_t salt, std::uint64_t offset);

/// The record or commit at the start of `bytes`, which are at that offset. Nothing: none is there,
/// or not all of it.
struct Found {
  RecordHeader header;
  std::span<const std::byte> data;
  std::uint64_t digest;  ///< what it adds; 0 of a commit
  [[nodiscard]] bool is_commit() const { return (header.flags & kCommitFlag) != 0; }
  [[nodiscard]] std::size_t bytes() const { return bytes_of_record(header.length); }
  [[nodiscard]] Commit commit() const;
  [[nodiscard]] Record record() const;
};
[[nodiscard]] std::optional<Found> find_record(std::span<const std::byte> bytes, std::uint64_t salt,
                                               std::uint64_t offset);

/// What a record adds to the digest (LF4), wherever it is.
[[nodiscard]] std::uint64_t digest_of(const Record& record);

/// The kHeaderBytes of a segment's file.
[[nodiscard]] std::string encode_header(const Segment& segment);
/// The error says what is wrong with it, but not which file it is.
[[nodiscard]] Result<Segment> decode_header(std::span<const std::byte> bytes);

}  // namespace tutti::log
