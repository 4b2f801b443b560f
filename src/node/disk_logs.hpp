/// \file disk_logs.hpp
/// The logs of a node's groups, and the one thread that writes them.
///
/// Threads: open() and destruction the node's; failed() and ended() are called on the thread for
/// logs; others as marked.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "log/disk.hpp"
#include "node/disk_log.hpp"
#include "node/signal.hpp"
#include "restart/log_summary.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// What the node is told.
struct DiskLogsEvents {
  std::function<void()> persisted;           ///< one of them has got further, or has room again
  std::function<void()> wants_snapshot;      ///< one of them (LogSnapshots::is_wanted)
  std::function<void(const Error&)> failed;  ///< once: no log takes anything more
  std::function<void()> ended;               ///< the thread has
};

class DiskLogs {
 public:
  /// Opens a log for each group that is logged and that this node delivers; null if there is none.
  /// `groups` are resolved.
  [[nodiscard]] static Result<std::unique_ptr<DiskLogs>> open(
      const NodeOptions& node, const std::vector<GroupOptions>& groups, DiskLogsEvents events);
  /// Ends the thread and waits for it.
  ~DiskLogs();
  DiskLogs(const DiskLogs&) = delete;
  DiskLogs& operator=(const DiskLogs&) = delete;

  /// By group; null where there is none.
  [[nodiscard]] std::vector<LogSink*> sinks() const;
  [[nodiscard]] const DiskLog* log(std::size_t group) const { return logs_[group].get(); }
  [[nodiscard]] DiskLog* log(std::size_t group) { return logs_[group].get(); }
  /// What was in that group's log when it was opened; once.
  [[nodiscard]] restart::LogSummary take_found(std::size_t group) {
    return std::move(found_[group]);
  }
  [[nodiscard]] log::Disk& disk() { return *disk_; }

  /// Nothing more is appended: the thread writes what waits, and ends. Any thread.
  void quit();
  [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  /// Then: the error that ended it, if one did.
  [[nodiscard]] const Result<void>& outcome() const { return outcome_; }
  /// After that: the logs' folders are free for another node.
  void join();

 private:
  explicit DiskLogs(DiskLogsEvents events);
  void run();
  [[nodiscard]] Result<bool> work();
  [[nodiscard]] Result<void> prepare();
  [[nodiscard]] Result<bool> rest();
  [[nodiscard]] Result<void> look_at_snapshots();
  [[nodiscard]] std::chrono::nanoseconds rests() const;
  [[nodiscard]] Result<void> close();
  [[nodiscard]] bool waits() const;
  [[nodiscard]] Result<void> write_all();

  const DiskLogsEvents events_;
  const std::unique_ptr<log::Disk> disk_;
  Signal asked_;
  std::vector<std::unique_ptr<DiskLog>> logs_;  // by group
  std::vector<restart::LogSummary> found_;      // by group
  std::atomic<bool> quit_{false};
  std::atomic<bool> ended_{false};
  Result<void> outcome_;  // before ended_
  std::thread thread_;
};

/// The folder of that group's log under NodeOptions::state_dir: its name, with `%XX` for each byte
/// that is none of letters, digits, '-', '_' and '.', or that is a '.' at the beginning.
[[nodiscard]] std::string log_folder(std::string_view group);

/// The disk that the logs are on. A program of tests that stands in for the node has another one.
[[nodiscard]] std::shared_ptr<const log::Disk> disk_of_logs();

/// Where the log of that group is. The error does not name the group.
[[nodiscard]] Result<std::string> log_directory(const std::string& state_dir,
                                                const std::string& group);

}  // namespace tutti
