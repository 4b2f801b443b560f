/// \file log_summary.hpp
/// What a node says of the log of one group, so that logs can be compared without being read by
/// others: in which views its records were delivered, and sums over them.
///
/// Invariants:
///  SU1  A record is known by its number and its view: two logs that have a record of the same
///       number and view have the same records up to there (all of a view have one sequence, and
///       began it with the same records). So logs are compared by their runs.
///  SU2  Of a log with gaps only what lies behind the last one counts.
/// Threads: any; values. The functions with a disk may block for as long as it does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "log/disk.hpp"
#include "log/format.hpp"
#include "restart/views.hpp"

namespace tutti::restart {

/// Records that follow each other and were delivered in one view.
struct Run {
  std::uint64_t view = 0;
  std::uint64_t first = 0;  ///< the number of the first one
  std::uint64_t sum = 0;    ///< of the digests of the records before it, from whole_from on
  bool operator==(const Run&) const = default;
};

/// More runs are not told: the oldest are left out. No two logs differ so far back.
inline constexpr std::size_t kRunsMax = 4096;

struct LogSummary {
  std::string group{};
  std::uint64_t whole_from = 0;  ///< the number of its first record (SU2)
  std::uint64_t next = 0;        ///< behind its last record; whole_from if it has none
  std::uint64_t sum = 0;         ///< of the digests of its records
  std::vector<Run> runs{};       ///< the newest kRunsMax, by number
  /// The view of the record with that number, which it has; 0 if that is not told any more.
  [[nodiscard]] std::uint64_t view_at(std::uint64_t seq) const;
  bool operator==(const LogSummary&) const = default;
};

/// The record follows the last one, or it begins the log, or a gap comes before it.
void add(LogSummary& summary, const log::Record& record);

/// A record of that view and number follows; what it is made of is not counted.
void add_run(LogSummary& summary, std::uint64_t view, std::uint64_t seq);

/// Reads the whole log. A damaged one is an error.
[[nodiscard]] Result<LogSummary> summarize(const log::Disk& disk, const std::string& directory,
                                           const std::string& group);

/// How far the records of a log count, in a restart from the last view of this chain: records of a
/// view only up to the first numbers of all views that came after it [Z8].
[[nodiscard]] std::uint64_t counted(const LogSummary& log, const std::vector<ViewRecord>& chain);

/// Up to which number two logs have the same records (SU1). What one of them does not have any
/// more, or has not told, is taken to be the same.
[[nodiscard]] std::uint64_t common(const LogSummary& one, const LogSummary& other);

/// A place up to which the sums of two logs can be compared, and what they are there.
struct SharedSum {
  std::uint64_t seq = 0;
  std::uint64_t one = 0;
  std::uint64_t other = 0;
};
/// Where both logs know their sum, up to `until`, which is at most common(): where a run of both
/// begins, and where both end.
[[nodiscard]] std::vector<SharedSum> shared_sums(const LogSummary& one, const LogSummary& other,
                                                 std::uint64_t until);

/// The sum of the digests of the records from .. until - 1, which the log has.
[[nodiscard]] Result<std::uint64_t> sum_of(const log::Disk& disk, const std::string& directory,
                                           std::uint64_t from, std::uint64_t until);

/// A record that owns its bytes.
struct OwnedRecord {
  std::uint64_t seq = 0;
  std::uint64_t view = 0;
  std::uint32_t sender = 0;
  bool tick = false;
  std::vector<std::byte> data{};
  [[nodiscard]] log::Record record() const {
    return {.seq = seq, .view = view, .sender = sender, .tick = tick, .data = data};
  }
  bool operator==(const OwnedRecord&) const = default;
};

void encode(Encoder& out, const LogSummary& summary);
[[nodiscard]] LogSummary decode_summary(Decoder& in);

}  // namespace tutti::restart
