/// \file read.hpp
/// Reads the log in a directory, without a lock and without changing anything, also while its
/// writer goes on. A log is its segments, by the numbers of their first records.
///
/// Invariant LR1: a segment ends where the next one begins (Segment::first), which is where its
/// batches that count end, or at the boundary of one of them before: then the log was cut there
/// (Writer::cut_to), and the rest of the segment is dead. Anything else between two segments is
/// damage, and so is a mark that says that another segment follows, where there is none.
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
  std::uint64_t next = 0;  ///< LR1: that of the content, or where the log was cut
};

struct Reading {
  std::vector<SegmentFile> segments{};  ///< up to the damage, if there is any
  std::uint64_t first = 0;              ///< the number of the log's first record
  std::uint64_t next = 0;               ///< the number behind its last one; first if it has none
  std::uint64_t digest = 0;             ///< up to next
  std::optional<Damage> damage{};       ///< the first one
};

/// Visits the records from number `from` on. Fails if a file cannot be read, if two files are of
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
