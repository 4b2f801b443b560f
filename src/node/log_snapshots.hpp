/// \file log_snapshots.hpp
/// When a group's log wants a snapshot, when one that is written counts, and what of the log may go
/// then.
///
/// Invariants:
///  SC1  A snapshot counts once this log, and those of all members of the view, are on disk up to
///       its number: then no later cut is below it, in a restart neither (Z8).
///  SC2  Of the log goes only what the oldest snapshot that is kept has (SN2), what all members of
///       the view have on disk, and what no node is about to fetch from here, and only once this
///       member has written a snapshot in this run: what was in the log when it started has then
///       been handed to its application.
/// Threads: is_wanted(), offer() and failed() the one that takes snapshots; set_durable_to() and
/// keep_from() any; the rest that of the log's writer, but where marked.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/counter.hpp"
#include "log/snapshots.hpp"
#include "node/signal.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

struct SnapshotOptions {
  std::uint64_t every_bytes = 0;      ///< GroupOptions::snapshot_every_bytes
  std::chrono::nanoseconds every{0};  ///< GroupOptions::snapshot_every
  std::uint64_t keep_bytes = 0;       ///< GroupOptions::keep_log_bytes
  [[nodiscard]] bool any() const { return every_bytes != 0 || every.count() != 0; }
};

class LogSnapshots {
 public:
  /// `asked` wakes the thread of the writer. All outlive this.
  LogSnapshots(log::Writer& writer, log::Snapshots found, SnapshotOptions options, Signal& asked);

  [[nodiscard]] log::Snapshots& files() { return files_; }

  /// Those that count, oldest first. Any thread.
  [[nodiscard]] std::vector<log::Snapshot> kept() const;

  // Who takes snapshots.
  [[nodiscard]] bool is_wanted() const {
    return stage_.load(std::memory_order_acquire) == Stage::wanted;
  }
  /// What is to stand in the header of one that is taken.
  [[nodiscard]] log::Snapshot header(std::uint64_t seq, std::uint64_t view) const;
  /// Where it is to be written; an error if the directory is not there any more.
  [[nodiscard]] Result<std::string> path() const;
  /// It is written there, and synced.
  void offer(const log::Snapshot& snapshot);
  /// It could not be taken: the next is wanted when one would be after it.
  void failed();

  /// Everything before that number is on disk at all members of the view.
  void set_durable_to(std::uint64_t seq);
  /// No node is about to fetch what comes before that number.
  void keep_from(std::uint64_t seq) { keep_from_.store(seq, std::memory_order_relaxed); }

  /// The recovery hands the log over; the group is of that founding.
  void hand_over(std::uint64_t origin);
  /// Then: the writer's thread has it.
  void begin(std::uint64_t now_ns);
  /// So many bytes of records were written.
  void wrote(std::uint64_t bytes) { since_bytes_ += bytes; }
  /// What is due, but for the taking. True if snapshots or the log's beginning have changed.
  [[nodiscard]] Result<bool> work(std::uint64_t now_ns);
  /// work() has something to do with what was offered. Any thread.
  [[nodiscard]] bool may_go_on() const;
  /// After work(): until it is to be called again although nothing was written.
  [[nodiscard]] std::chrono::nanoseconds rests(std::uint64_t now_ns) const;
  /// One is wanted since the last call: who takes them is to be woken.
  [[nodiscard]] bool take_wish() { return std::exchange(wish_, false); }

  /// Any thread.
  void add_to(GroupStatistics& statistics) const;

 private:
  enum class Stage : std::uint8_t { none, wanted, offered };
  [[nodiscard]] bool is_due(std::uint64_t now_ns) const;
  [[nodiscard]] Result<bool> publish(std::uint64_t now_ns);
  [[nodiscard]] Result<bool> release();
  void tell();

  log::Writer& writer_;
  log::Snapshots files_;
  const SnapshotOptions options_;
  Signal& asked_;
  std::atomic<Stage> stage_{Stage::none};
  std::atomic<std::uint64_t> durable_to_{0};
  std::atomic<std::uint64_t> keep_from_{~0ULL};
  std::atomic<std::uint64_t> awaits_{0};  // what is offered waits until that is durable
  mutable std::mutex mutex_;
  std::optional<log::Snapshot> offered_;  // under it; nothing: it could not be taken
  std::vector<log::Snapshot> kept_;       // under it
  std::atomic<std::uint64_t> origin_{0};
  bool began_ = false;
  bool wish_ = false;
  bool published_ = false;         // SC2
  std::uint64_t since_bytes_ = 0;  // written since the last one
  std::uint64_t since_ns_ = 0;     // its time
  Counter taken_;
  std::atomic<std::uint64_t> newest_{0};
  std::atomic<std::uint64_t> log_from_{0};
};

}  // namespace tutti
