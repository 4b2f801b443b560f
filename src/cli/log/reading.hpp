/// \file reading.hpp
/// Visits records of a log that was read, and whose writer may have gone on since.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "log/read.hpp"

namespace tutti::cli {

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
