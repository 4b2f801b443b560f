/// \file node_logs.hpp
/// The logs of a node's groups, with what is known of each.
/// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "log/snapshots.hpp"
#include "log/writer.hpp"
#include "restart/log_summary.hpp"
#include "restart/piece_reader.hpp"

namespace tutti::restart {

struct GroupLog {
  std::string group{};
  log::Writer* writer = nullptr;
  log::Snapshots* snapshots = nullptr;  ///< null: the group has no state
  std::optional<LogSummary> found{};    ///< what the writer has found; none: load() reads the log
};

class NodeLogs {
 public:
  /// The disk and the writers outlive it.
  NodeLogs(const log::Disk& disk, std::vector<GroupLog> logs);

  /// Reads the logs of which it does not know yet what is in them. Before anything else.
  [[nodiscard]] Result<void> load();

  [[nodiscard]] std::size_t size() const { return logs_.size(); }
  [[nodiscard]] const std::string& group(std::size_t log) const { return logs_[log].group; }
  [[nodiscard]] log::Writer& writer(std::size_t log) const { return *logs_[log].writer; }
  [[nodiscard]] const std::string& directory(std::size_t log) const {
    return logs_[log].writer->directory();
  }
  [[nodiscard]] const log::Disk& disk() const { return disk_; }
  /// Null: the group has no state.
  [[nodiscard]] log::Snapshots* snapshots(std::size_t log) const { return logs_[log].snapshots; }
  [[nodiscard]] std::optional<std::size_t> find(const std::string& group) const;
  [[nodiscard]] const LogSummary& summary(std::size_t log) const { return summaries_[log]; }
  [[nodiscard]] const std::vector<LogSummary>& summaries() const { return summaries_; }

  /// For another node: see PieceReader.
  [[nodiscard]] Result<std::vector<OwnedRecord>> read(std::uint32_t reader, std::size_t log,
                                                      std::uint64_t from, std::uint64_t until,
                                                      std::size_t bytes) {
    return pieces_.read(reader, directory(log), from, until, bytes);
  }
  void forget_reader(std::uint32_t reader) { pieces_.forget(reader); }

  /// The group is of that founding: snapshots of another one do not count.
  void of_founding(std::size_t log, std::uint64_t origin);

  // The writer's, and the summary follows.
  /// First the snapshots beyond the cut go (SN3).
  [[nodiscard]] Result<void> cut_to(std::size_t log, std::uint64_t seq);
  [[nodiscard]] Result<void> begin_at(std::size_t log, std::uint64_t seq);
  /// The snapshot was fetched (Snapshots::kFetchedName), and its number is above the log's first:
  /// the log begins anew there, without what it had.
  [[nodiscard]] Result<void> begin_from_snapshot(std::size_t log, const log::Snapshot& snapshot);
  /// Appends those of the records that the log does not have, by number [Z9], before `until`, and
  /// syncs them. False: they do not follow what the log has, or are of views above `newest_view`;
  /// nothing was appended. An error is one of the disk.
  [[nodiscard]] Result<bool> append(std::size_t log, const std::vector<OwnedRecord>& records,
                                    std::uint64_t until, std::uint64_t newest_view);

 private:
  [[nodiscard]] Result<void> look_at(std::size_t log);
  [[nodiscard]] Result<void> write(std::size_t log, const log::Batch& all);
  void know(std::size_t log, LogSummary summary);

  const log::Disk& disk_;
  std::vector<GroupLog> logs_;
  std::vector<LogSummary> summaries_;
  PieceReader pieces_;
};

}  // namespace tutti::restart
