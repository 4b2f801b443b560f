/// \file snapshot_taker.hpp
/// Takes the snapshots that the logs of a node's groups want, and loads the newest one when the
/// node starts again: all that the application and the disk do for it, in pieces, on the thread for
/// states.
///
/// A snapshot, step by step: the log wants one; delivery of the group pauses between two batches
/// (DP1); the application's state is taken; delivery goes on; the state is written to a file, a
/// piece at a time; the log is told (LogSnapshots, SC1).
/// Threads: work(), waits() and forget() the one for states; ask_to_load() any; add() before both.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "log/snapshot_file.hpp"
#include "membership/state_jobs.hpp"
#include "multicast/delivery_pause.hpp"
#include "node/disk_log.hpp"
#include "node/snapshot_load.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// What its owner is told, on the thread for states.
struct SnapshotTakerEvents {
  /// Delivery of that group has a pause to come to, or may go on.
  std::function<void(std::size_t group)> look{};
  std::function<void(const std::string& text)> warn{};
};

class SnapshotTaker {
 public:
  explicit SnapshotTaker(SnapshotTakerEvents events);

  /// A group whose log has snapshots. All outlive this.
  void add(std::size_t group, const GroupState& state, DiskLog& log, DeliveryPause& pause);

  /// Before anything of the group is delivered.
  void ask_to_load(std::size_t group, std::shared_ptr<SnapshotLoad> load);

  /// A piece of what is to be done. False if there is nothing now.
  bool work();
  [[nodiscard]] bool waits();
  /// Drops what the application gave; no work follows.
  void forget();

 private:
  enum class Stage : std::uint8_t { rests, pauses, writes };
  struct One {
    std::size_t group;
    const GroupState* state;
    DiskLog* log;
    DeliveryPause* pause;
    std::shared_ptr<SnapshotLoad> load{};  // under mutex_
    Stage stage = Stage::rests;
    DeliveryPause::Place place{};
    ReadSnapshot read{};
    std::unique_ptr<log::SnapshotWriter> writer{};
    std::uint64_t offset = 0;  // of the state, read so far
  };

  [[nodiscard]] std::shared_ptr<SnapshotLoad> due_load(const One& one);
  [[nodiscard]] bool is_due(One& one);
  void step(One& one);
  void load(One& one, SnapshotLoad& load);
  [[nodiscard]] Result<std::uint64_t> load_newest(const One& one, const SnapshotLoad& load);
  [[nodiscard]] Result<void> load_file(const One& one, log::SnapshotFile& file);
  [[nodiscard]] Result<void> take(One& one);
  /// True: it is complete.
  [[nodiscard]] Result<bool> write_piece(One& one);
  void end(One& one, const Result<void>& result);

  const SnapshotTakerEvents events_;
  const std::unique_ptr<log::Disk> disk_;  // of this thread
  std::vector<One> all_;
  std::size_t next_ = 0;  // of these: each has its turn
  std::vector<std::byte> piece_;
  std::mutex mutex_;
};

}  // namespace tutti
