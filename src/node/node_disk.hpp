/// \file node_disk.hpp
/// What a node with logged groups has on disk, from its start to its end: the logs with their
/// thread, and the thread for restarts, which says how each incarnation comes into a view.
/// Threads: open(), destruction and the calls for incarnations the one that starts and ends the
/// node; others as marked.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/disk_logs.hpp"
#include "node/restart/restart_thread.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// What the node is told, on one of the two threads.
struct NodeDiskEvents {
  std::function<void()> changed{};  ///< the predicate thread, and whoever waits, are to look again
  std::function<void()> wants_snapshot{};  ///< see DiskLogsEvents
  std::function<void(const Error&)> failed{};
  std::function<void(LogLevel, std::string_view)> log{};
  std::function<void()> ended{};  ///< one of the threads has
};

class NodeDisk {
 public:
  NodeDisk() = default;
  /// Ends both threads, first the one for restarts, and waits for them.
  ~NodeDisk();
  NodeDisk(const NodeDisk&) = delete;
  NodeDisk& operator=(const NodeDisk&) = delete;

  /// Null if no group is logged. `groups` are resolved; both outlive it.
  [[nodiscard]] static Result<std::unique_ptr<NodeDisk>> open(
      const NodeOptions& node, const std::vector<GroupOptions>& groups, NodeDiskEvents events);

  [[nodiscard]] DiskLogs& logs() { return *logs_; }
  [[nodiscard]] RestartThread& restart() { return *restart_; }

  /// The view that the next incarnation founds; nothing: it only joins.
  [[nodiscard]] std::optional<RestartView> begin_incarnation();
  /// The incarnation, which is in no view, is to give way to another one: it will come into none
  /// (restart::Recovery, RY3).
  [[nodiscard]] bool has_news() const;
  /// The incarnation came into no view, and is gone.
  void end_incarnation();

  /// After the last pass of the last incarnation. Any thread.
  void quit() { restart_->quit(); }
  /// The logs are written, and their folders free for another node once this is destroyed.
  [[nodiscard]] bool has_ended();
  /// Then: the error that ended the logs, if one did.
  [[nodiscard]] const Result<void>& outcome() const { return logs_->outcome(); }
  void join() {
    logs_->join();
    lock_.reset();
  }

 private:
  std::unique_ptr<DiskLogs> logs_;
  std::unique_ptr<log::DirectoryLock> lock_;  // of state_dir
  std::unique_ptr<RestartThread> restart_;
  std::uint64_t founds_ = 0;  // the view that the incarnation does; 0: none
};

}  // namespace tutti
