/// \file reading.hpp
/// Reads a log whose writer may go on meanwhile, without a lock.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "log/read.hpp"

namespace tutti::cli {

/// log::read_log. A file is not read in one moment, so a batch that is just being written may look
/// like damage, and a segment that is just being released like a missing file. What is there when
/// it is read once more, and is the same, is real. `begin` is called before each attempt, so that
/// the visitor can forget what it has seen.
[[nodiscard]] Result<log::Reading> read_settled(const log::Disk& disk, const std::string& directory,
                                                const log::Visit& visit = {},
                                                const std::function<void()>& begin = {});

/// Where a record is.
struct Place {
  const log::SegmentFile& segment;
  std::uint64_t offset;
};
using RecordVisit = std::function<bool(const log::Record& record, const Place& place)>;

/// Visits the records `from` .. `to` - 1 of those that `reading` counts. Only the segments that
/// have some of them are read again.
[[nodiscard]] Result<void> visit_records(const log::Disk& disk, const log::Reading& reading,
                                         std::uint64_t from, std::uint64_t to,
                                         const RecordVisit& visit);

}  // namespace tutti::cli
