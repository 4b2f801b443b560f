/// \file read.hpp
/// Reads the log in a directory, without a lock and without changing anything, also while its
/// writer goes on.
///
/// Invariants:
///  LR1  A log is its segments, by the numbers of their first records. A segment with a higher
///       number cuts the log at its first record: segments that begin there or later and have a
///       lower number are dead, and so are the batches of the one before from there on.
///  LR2  Otherwise a segment goes on where the one before ends, or begins behind a gap and says
///  where
///       the one before ends; with the same digest. Anything else is damage, and so is a
///       mark that says that another segment follows, where there is none.
///  LR3  Files are not read in one moment, and a writer may append, begin segments, cut and release
///       meanwhile. So what is wrong counts only if the files in question are still there, and
///       follow each other, in a listing that is made behind it. Else the reading goes on with that
///       listing, from the beginning if what was read is not its beginning.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "log/listing.hpp"
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

struct Visitor {
  Visit visit{};           ///< none: nothing is visited
  std::uint64_t from = 0;  ///< the number of the first record to visit
  /// What was visited is to be forgotten: the log was cut or released meanwhile (LR3), and all is
  /// visited again. None: that is an error.
  std::function<void()> begin_anew{};
};

/// Visits the records. If the visitor has enough, the reading is over, and says only how far it has
/// come. Fails if a file cannot be read, if two files are of different logs, if there is a log of
/// another format, or if it has changed at each of many looks; damage is no failure.
[[nodiscard]] Result<Reading> read_log(const Disk& disk, const std::string& directory,
                                       const Visitor& visitor);
[[nodiscard]] Result<Reading> read_log(const Disk& disk, const std::string& directory,
                                       const Visit& visit = {}, std::uint64_t from = 0);

/// "FILE, offset N: what (record SEQ and those behind it)", for people.
[[nodiscard]] std::string to_string(const Damage& damage);

/// A file, or the first `at_most` bytes of a larger one: a file may say that it has any size.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const Disk& disk, const std::string& path,
                                                       std::uint64_t at_most);
[[nodiscard]] Result<void> read_file(const Disk& disk, const std::string& path,
                                     std::uint64_t at_most, std::vector<std::byte>& into);

}  // namespace tutti::log
