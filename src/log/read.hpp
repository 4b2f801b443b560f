/// \file read.hpp
/// Reads the log in a directory, without a lock and without changing anything, also while its
/// writer goes on.
///
/// Invariants:
///  LR1  A log is its segments, by the numbers of their first records. A segment with a higher
///       number cuts the log at its first record: segments that begin there or later and have a
///       lower number are dead, and so are the batches of the one before from there on.
///  LR2  Otherwise a segment goes on where the one before ends, with the same digest, or begins
///       behind a gap, and says where the one before ends. Anything else is damage, and so is a
///       mark that says that another segment follows, where there is none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "log/segment.hpp"

namespace tutti::log {

struct SegmentFile {
  std::string path{};
  Segment header{};
  SegmentContent content{};
};

struct Reading {
  std::vector<SegmentFile> segments{};  ///< up to the damage, if there is any
  std::vector<std::string> dead{};      ///< paths of segments that were cut (LR1)
  std::uint64_t first = 0;              ///< the number of the log's first record
  std::uint64_t whole_from = 0;         ///< no record is missing from here to next
  std::uint64_t next = 0;               ///< the number behind its last one; first if it has none
  std::uint64_t digest = 0;             ///< up to next
  std::optional<Damage> damage{};       ///< the first one
};

/// Visits the records from number `from` on. If the visitor has enough, the reading is over, and
/// says only how far it has come. Fails if a file cannot be read, if two files are of
/// different logs, or if there is a log of another format; damage is no failure.
[[nodiscard]] Result<Reading> read_log(const Disk& disk, const std::string& directory,
                                       const Visit& visit = {}, std::uint64_t from = 0);

/// "FILE, offset N: what (record SEQ and those behind it)", for people.
[[nodiscard]] std::string to_string(const Damage& damage);

/// The name of the segment whose first record has that number, and back.
[[nodiscard]] std::string segment_name(std::uint64_t first);
[[nodiscard]] std::optional<std::uint64_t> first_of_name(const std::string& name);

/// A whole file.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const Disk& disk, const std::string& path);

}  // namespace tutti::log
