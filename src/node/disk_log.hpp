/// \file disk_log.hpp
/// The log of one group on this node's disk: what the predicate thread appends waits here until the
/// thread for logs has written and synced it, as much at once as waits (group commit).
///
/// Invariants: DL1 persisted() grows only after Writer::write() has returned without an error. DL2
/// what waits is never more than kMostWaiting and what one append() brings: then the group's space
/// waits (P7). DL3 a batch has kBatchBytes and one message at most, whatever one append() brings: a
/// segment has room for it. DL4 until take_over() the writer belongs to the node's recovery, which
/// brings the log to where the group begins for this node: nothing is written, and persisted() is
/// 0.
/// Threads: LogSink's calls the predicate thread; work() and close() the thread for logs; others
/// as marked.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/counter.hpp"
#include "log/batch.hpp"
#include "log/writer.hpp"
#include "multicast/log_sink.hpp"
#include "node/log_replay.hpp"
#include "node/log_snapshots.hpp"
#include "node/signal.hpp"
#include "node/slowness.hpp"
#include "restart/log_summary.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

class DiskLog final : public LogSink, public WholeLog {
 public:
  /// `asked` is notified when there is work. All outlive this.
  DiskLog(std::unique_ptr<log::Writer> writer, Signal& asked);

  /// Who is told where the group begins for this node, and then takes the log there. Before the
  /// first begin().
  void on_begin(std::function<void(std::uint64_t seq)> begins) { begins_ = std::move(begins); }
  /// DL4: the recovery's, until it says take_over().
  [[nodiscard]] log::Writer& writer() { return *writer_; }
  /// Of a group that is stateful: with these snapshots beside the log. Before anything else.
  void add_snapshots(log::Snapshots found, const SnapshotOptions& options) {
    snapshots_ = std::make_unique<LogSnapshots>(*writer_, std::move(found), options, asked_);
  }
  /// Null of a group that is not stateful.
  [[nodiscard]] LogSnapshots* snapshots() { return snapshots_.get(); }
  /// The log has exactly what comes before the number of begin(), and is this one's from now on.
  /// Any thread.
  /// `origin`: which founding of the group it belongs to.
  void take_over(restart::LogSummary summary, std::uint64_t origin);
  /// What it has on disk, without sums. After take_over(); any thread.
  [[nodiscard]] restart::LogSummary summary() const;

  // LogSink.
  void begin(std::uint64_t seq) override { begins_(seq); }
  [[nodiscard]] bool has_room() const override {
    return waiting_bytes_.load(std::memory_order_relaxed) < kMostWaiting;
  }
  bool append(std::span<const Message> messages, const AsSent& as_sent) override;
  /// Any thread.
  [[nodiscard]] std::uint64_t persisted() const override {
    return persisted_.load(std::memory_order_acquire);
  }

  /// Nothing until take_over(): the recovery may cut it. Any thread.
  [[nodiscard]] std::uint64_t whole_to() const override { return persisted(); }
  [[nodiscard]] const std::string& directory() const { return directory_; }

  /// `persisted` and what else it counts. Any thread.
  void add_to(GroupStatistics& statistics) const;

  /// Writes and syncs one batch, if there is anything. True if there was.
  [[nodiscard]] Result<bool> work();
  /// After work(): prepares the next segment as far as the last batch has filled this one.
  [[nodiscard]] Result<void> prepare();
  /// Nothing waits: does what is useful then. True if there is more of it.
  [[nodiscard]] Result<bool> rest();
  /// After work(): what is due with snapshots.
  [[nodiscard]] Result<void> look_at_snapshots(std::uint64_t now_ns);
  /// Until the thread for logs is to look at this one again although nothing was appended.
  [[nodiscard]] std::chrono::nanoseconds rests(std::uint64_t now_ns) const;
  /// After the last work().
  [[nodiscard]] Result<void> close();
  /// After that, and when that thread has ended: the folder is free for another node.
  void release() {
    snapshots_.reset();
    writer_.reset();
  }

  /// There is work. Any thread.
  [[nodiscard]] bool waits() const;
  /// That the disk is at it. Any thread.
  [[nodiscard]] const CallMark& writing() const { return writing_; }

 private:
  static constexpr std::size_t kMostWaiting = 4U << 20;
  // A batch takes no more messages once it has so many bytes, or a part of a segment: more would
  // only make it late.
  static constexpr std::size_t kBatchBytes = 1U << 20;

  // What waits, taken out: an empty batch if there is nothing.
  [[nodiscard]] log::Batch take();
  void add(const Message& message);
  [[nodiscard]] bool is_taken_over() const;

  std::unique_ptr<log::Writer> writer_;
  const std::string directory_;
  const std::size_t batch_bytes_;
  std::function<void(std::uint64_t)> begins_;
  Signal& asked_;
  mutable std::mutex mutex_;
  std::deque<log::Batch> waiting_;  // oldest first
  std::vector<log::Batch> empty_;   // whose memory serves again
  bool taken_over_ = false;         // DL4
  restart::LogSummary summary_;     // with what waits
  std::atomic<std::size_t> waiting_bytes_{0};
  std::atomic<std::uint64_t> persisted_{0};
  Counter bytes_;
  BatchCounter syncs_;       // records of each
  std::size_t written_ = 0;  // bytes, since prepare()
  CallMark writing_;
  std::unique_ptr<LogSnapshots> snapshots_;
  bool snapshots_began_ = false;
};

}  // namespace tutti
