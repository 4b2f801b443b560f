/// \file restart_thread.hpp
/// The thread of a node with logged groups that brings it back into them, keeps its views on disk,
/// and answers others that come back: restart::Recovery, its links and its file.
///
/// The membership asks it as its ViewLog, and is never made to wait: what it asks is done on this
/// thread, and the next answer is true.
/// Invariant RT1: the recovery, the file `views` and the links are of this thread alone; what other
/// threads see of them is in Progress and in what is done, under the mutex.
/// Threads: open() and destruction the node's; ViewLog's calls the predicate thread; others
/// any, as marked. The events come on this thread.
#pragma once
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "membership/view_log.hpp"
#include "node/disk_logs.hpp"
#include "node/restart/links.hpp"
#include "node/slowness.hpp"
#include "restart/recovery.hpp"
#include "tutti/options.hpp"

namespace tutti {

struct RestartEvents {
  std::function<void()> changed{};             ///< Progress, or what the membership asks
  std::function<void(const Error&)> failed{};  ///< once; also Progress::error
  std::function<void(LogLevel, std::string_view)> log{};
  std::function<void()> ended{};  ///< the thread has
};

class RestartThread final : public ViewLog,
                            private RestartLinkEvents,
                            private restart::RecoveryOwner {
 public:
  /// Reads `views` and the logs, on the thread; `groups` are resolved. All outlive it. `logs` have
  /// a log of each group that is logged.
  [[nodiscard]] static Result<std::unique_ptr<RestartThread>> open(
      const NodeOptions& node, const std::vector<GroupOptions>& groups, DiskLogs& logs,
      RestartEvents events);
  ~RestartThread() override;
  RestartThread(const RestartThread&) = delete;
  RestartThread& operator=(const RestartThread&) = delete;

  /// The thread ends once it has done what it was asked before, and the disk lets it: logs that
  /// began have been handed over then, as far as that takes no other node. After it the logs are
  /// the thread's for logs alone. Any thread.
  void quit();
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  /// A view was entered, or was to be: only a new start of the node may enter another. Any thread.
  [[nodiscard]] bool has_entered() const {
    const std::lock_guard lock(mutex_);
    return installed_.has_value();
  }
  [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }

  struct Progress {
    bool may_join = false;                ///< the node may be admitted by members that run
    std::optional<RestartView> founds{};  ///< it is to found this view
    /// What the incarnation is about to enter it may not: another one is to come in its place,
    /// after begin_again().
    bool in_vain = false;
    std::optional<Error> error{};
  };
  /// Any thread.
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] bool may_join() const { return may_join_.load(std::memory_order_acquire); }
  /// Whom or what it waits for; empty once the node runs. Any thread.
  [[nodiscard]] std::string why() const;
  /// There is no incarnation any more that could enter a view. Any thread.
  void begin_again();
  /// A call for a link, see BootstrapRequest::take_link. Any thread.
  void take(LinkCall call) { links_.take(std::move(call)); }
  /// Logs have more on disk. Any thread.
  void logs_grew();
  /// That the disk writes `views`. Any thread.
  [[nodiscard]] const CallMark& writing() const { return writing_; }

  // ViewLog.
  [[nodiscard]] bool has_accepted(std::uint64_t view, const Proposal& proposal,
                                  std::uint64_t ballot) override;
  [[nodiscard]] bool has_installed(const View& view,
                                   const std::vector<std::uint64_t>& firsts) override;
  void confirmed(std::uint64_t view) override;

 private:
  RestartThread(const NodeOptions& node, const std::vector<GroupOptions>& groups, DiskLogs& logs,
                RestartEvents events);
  void run();
  [[nodiscard]] Result<void> prepare();
  [[nodiscard]] Result<std::optional<restart::Views>> load_views();
  void tick();
  /// After each thing that the recovery was told.
  void look();
  void install();
  void fail_with(const Error& error);
  [[nodiscard]] std::vector<restart::GroupFirst> firsts_of(
      const std::vector<std::uint64_t>& by_group) const;

  // RestartLinkEvents.
  void up(std::uint32_t slot) override;
  void down(std::uint32_t slot) override;
  void received(std::uint32_t slot, std::span<const std::byte> bytes) override;
  // RecoveryOwner.
  [[nodiscard]] restart::LogSummary log_now(std::size_t log) override;
  void whole(std::size_t log, const restart::LogSummary& summary) override;
  void keep_from(std::size_t log, std::uint64_t seq) override;

  const NodeOptions& node_;
  const std::vector<GroupOptions>& groups_;
  DiskLogs& disk_logs_;
  const RestartEvents events_;
  const std::uint32_t slot_;
  std::vector<std::size_t> logged_;  // the groups that are, by name
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer timer_;
  RestartLinks links_;
  restart::ViewsFile file_;
  std::optional<restart::NodeLogs> logs_;
  std::optional<restart::Recovery> recovery_;
  std::optional<restart::ViewRecord> installing_;  // asked, and not done yet
  CallMark writing_;
  std::set<std::uint32_t> came_;  // nodes that were linked since it came back, or began again
  std::uint32_t quiet_ = 0;       // ticks since the last link came about
  std::string said_;              // of why(), to the log
  std::atomic<bool> may_join_{false};
  std::atomic<bool> awaits_logs_{false};
  std::atomic<bool> ended_{false};

  mutable std::mutex mutex_;   // of what stands below
  bool begins_again_ = false;  // and the recovery has not yet: what it says is of before
  Progress progress_;
  std::string why_;
  std::optional<restart::Accepted> accept_asked_;
  std::optional<restart::Accepted> accepted_;
  std::optional<restart::ViewRecord> install_asked_;
  std::optional<restart::ViewRecord> installed_;

  std::thread thread_;
};

}  // namespace tutti
