#include "restart/node_logs.hpp"

#include <algorithm>

namespace tutti::restart {

NodeLogs::NodeLogs(const log::Disk& disk, std::vector<GroupLog> logs)
    : disk_(disk), logs_(std::move(logs)), summaries_(logs_.size()), pieces_(disk) {}

Result<void> NodeLogs::load() {
  for (std::size_t log = 0; log < size(); ++log) {
    if (std::optional<LogSummary>& found = logs_[log].found) {
      know(log, std::move(*found));
      found.reset();
    } else if (Result<void> done = look_at(log); !done) {
      return done;
    }
  }
  return {};
}

Result<void> NodeLogs::look_at(std::size_t log) {
  Result<LogSummary> summary = summarize(disk_, directory(log), group(log));
  if (!summary) return std::unexpected(std::move(summary.error()));
  know(log, std::move(*summary));
  return {};
}

void NodeLogs::know(std::size_t log, LogSummary summary) {
  summaries_[log] = std::move(summary);
  // It has no records, or none behind its last gap (SU2).
  if (const std::uint64_t next = writer(log).next(); summaries_[log].next != next) {
    summaries_[log] = {.group = group(log), .whole_from = next, .next = next};
  }
  if (logs_[log].snapshots != nullptr) {
    summaries_[log].snapshot = logs_[log].snapshots->newest();
  }
}

void NodeLogs::of_founding(std::size_t log, std::uint64_t origin) {
  logs_[log].snapshots->of_founding(origin);
  summaries_[log].snapshot = logs_[log].snapshots->newest();
}

std::optional<std::size_t> NodeLogs::find(const std::string& group) const {
  const auto found = std::ranges::find(logs_, group, &GroupLog::group);
  if (found == logs_.end()) return {};
  return found - logs_.begin();
}

Result<void> NodeLogs::cut_to(std::size_t log, std::uint64_t seq) {
  pieces_.forget(directory(log));
  if (logs_[log].snapshots != nullptr) {
    if (Result<void> gone = logs_[log].snapshots->cut_to(seq); !gone) return gone;
  }
  if (Result<void> done = writer(log).cut_to(seq); !done) return done;
  return look_at(log);
}

Result<void> NodeLogs::begin_at(std::size_t log, std::uint64_t seq) {
  if (Result<void> done = writer(log).begin_at(seq); !done) return done;
  return look_at(log);
}

// Stopped behind any step, the log is as it was, without what is cut, or begins at the snapshot,
// which does not count before that (SN1, SN4).
Result<void> NodeLogs::begin_from_snapshot(std::size_t log, const log::Snapshot& snapshot) {
  pieces_.forget(directory(log));
  log::Snapshots& files = *logs_[log].snapshots;
  // What does not belong to the sequence goes, and at least the record before: then it is a gap.
  if (writer(log).next() >= snapshot.seq) {
    if (Result<void> done = cut_to(log, snapshot.seq - 1); !done) return done;
  }
  if (Result<void> done = files.publish(log::Snapshots::kFetchedName, snapshot); !done) return done;
  if (Result<void> done = writer(log).begin_at(snapshot.seq); !done) return done;
  if (Result<void> done = writer(log).release_before(snapshot.seq); !done) return done;
  if (Result<void> done = files.drop_before(snapshot.seq); !done) return done;
  return look_at(log);
}

Result<bool> NodeLogs::append(std::size_t log, const std::vector<OwnedRecord>& records,
                              std::uint64_t until, std::uint64_t newest_view) {
  LogSummary summary = summaries_[log];
  log::Batch batch;
  for (const OwnedRecord& record : records) {
    const std::uint64_t next = batch.empty() ? writer(log).next() : batch.next();
    if (record.seq < next || record.seq >= until) continue;
    const std::uint64_t last = summary.runs.empty() ? 0 : summary.runs.back().view;
    if (record.seq != next || record.view < last || record.view > newest_view) return false;
    batch.add(record.record());
    add(summary, record.record());
  }
  if (Result<void> done = write(log, batch); !done) return std::unexpected(std::move(done.error()));
  summaries_[log] = std::move(summary);
  return true;
}

// In parts that fit into a segment of this node, which may be smaller than those of others.
Result<void> NodeLogs::write(std::size_t log, const log::Batch& all) {
  log::Batch part;
  const auto put = [&]() -> Result<void> {
    const std::uint64_t bytes = part.bytes();
    if (Result<void> done = writer(log).write(part); !done) return done;
    Result<bool> more = writer(log).prepare(2 * bytes);
    return more ? Result<void>{} : std::unexpected(std::move(more.error()));
  };
  Result<void> result;
  all.for_each([&](const log::Record& record) {
    if (!result) return;
    const std::uint64_t bytes = log::bytes_of_record(record.data.size());
    if (!part.empty() && part.bytes() + bytes > writer(log).batch_bytes_max()) result = put();
    if (result) part.add(record);
  });
  return !result || part.empty() ? result : put();
}

}  // namespace tutti::restart
