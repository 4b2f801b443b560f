/// \file disk_log.hpp
/// The log of one group on this node's disk: what the predicate thread appends waits here until the
/// thread for logs has written and synced it, as much at once as waits (group commit).
///
/// Invariants: DL1 persisted() grows only after Writer::write() has returned without an error. DL2
/// what waits is never more than kMostWaiting and what one append() brings: then the group's space
/// waits (P7). DL3 a batch has kBatchBytes and one message at most, whatever one append() brings: a
/// segment has room for it. DL4 a start of the node may have several incarnations, each of which
/// begins its sequence anew: then the log forgets, or cuts, what the one before has left, and
/// nothing that is still written for that one counts as persisted.
/// Threads: LogSink's calls the predicate thread; work() and close() the thread for logs; others
/// as marked.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "node/signal.hpp"
#include "node/slowness.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

class DiskLog final : public LogSink, public WholeLog {
 public:
  /// `asked` is notified when there is work. All outlive this.
  DiskLog(std::unique_ptr<log::Writer> writer, Signal& asked);

  // LogSink.
  void begin(std::uint64_t seq) override;
  [[nodiscard]] bool has_room() const override {
    return waiting_bytes_.load(std::memory_order_relaxed) < kMostWaiting;
  }
  bool append(std::span<const Message> messages, const AsSent& as_sent) override;
  /// Any thread.
  [[nodiscard]] std::uint64_t persisted() const override {
    return persisted_.load(std::memory_order_acquire);
  }

  /// What it had when it was opened, and what was appended since. Any thread.
  [[nodiscard]] std::uint64_t whole_to() const override { return std::max(had_, persisted()); }
  [[nodiscard]] const std::string& directory() const { return directory_; }

  /// `persisted` and what else it counts. Any thread.
  void add_to(GroupStatistics& statistics) const;

  /// Writes and syncs one batch, if there is anything. True if there was.
  [[nodiscard]] Result<bool> work();
  /// After work(): prepares the next segment as far as the last batch has filled this one.
  [[nodiscard]] Result<void> prepare();
  /// Nothing waits: does what is useful then. True if there is more of it.
  [[nodiscard]] Result<bool> rest();
  /// After the last work().
  [[nodiscard]] Result<void> close();
  /// The start has failed: the log has nothing of it.
  void forget();
  /// After that, and when that thread has ended: the folder is free for another node.
  void release() { writer_.reset(); }

  /// There is work. Any thread.
  [[nodiscard]] bool waits() const;
  /// That the disk is at it. Any thread.
  [[nodiscard]] const CallMark& writing() const { return writing_; }

 private:
  static constexpr std::size_t kMostWaiting = 4U << 20;
  // A batch takes no more messages once it has so many bytes: more would only make it late.
  static constexpr std::size_t kBatchBytes = 1U << 20;

  struct Begin {
    std::uint64_t seq = 0;
    std::uint64_t number = 0;  // of calls of begin()
  };
  // What waits, taken out: in a log that has begun so, an empty batch if there is nothing.
  [[nodiscard]] log::Batch take(Begin& begin);
  [[nodiscard]] Result<void> begin_at(std::uint64_t seq);
  void add(const Message& message);

  std::unique_ptr<log::Writer> writer_;
  const std::string directory_;
  const std::uint64_t had_;  // the number behind its last record when it was opened
  Signal& asked_;
  mutable std::mutex mutex_;
  std::deque<log::Batch> waiting_;  // oldest first
  std::vector<log::Batch> empty_;   // whose memory serves again
  Begin begin_;                     // the last one
  std::uint64_t begun_ = 0;         // Begin::number that the writer is at; of the thread for logs
  std::atomic<std::size_t> waiting_bytes_{0};
  std::atomic<std::uint64_t> persisted_{0};
  Counter bytes_;
  BatchCounter syncs_;       // records of each
  std::size_t written_ = 0;  // bytes, since prepare()
  CallMark writing_;
};

}  // namespace tutti
