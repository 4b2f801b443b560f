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
  if (summaries_[log].runs.empty()) {
    summaries_[log].whole_from = summaries_[log].next = writer(log).next();
  }
}

std::optional<std::size_t> NodeLogs::find(const std::string& group) const {
  const auto found = std::ranges::find(logs_, group, &GroupLog::group);
  if (found == logs_.end()) return {};
  return found - logs_.begin();
}

Result<void> NodeLogs::cut_to(std::size_t log, std::uint64_t seq) {
  pieces_.forget(directory(log));
  if (Result<void> done = writer(log).cut_to(seq); !done) return done;
  return look_at(log);
}

Result<void> NodeLogs::begin_at(std::size_t log, std::uint64_t seq) {
  if (Result<void> done = writer(log).begin_at(seq); !done) return done;
  summaries_[log] = {.group = group(log), .whole_from = seq, .next = seq};
  return {};
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
  if (batch.empty()) return true;
  const std::uint64_t bytes = batch.bytes();
  if (Result<void> done = writer(log).write(batch); !done) {
    return std::unexpected(std::move(done.error()));
  }
  if (Result<bool> more = writer(log).prepare(2 * bytes); !more) {
    return std::unexpected(std::move(more.error()));
  }
  summaries_[log] = std::move(summary);
  return true;
}

}  // namespace tutti::restart
