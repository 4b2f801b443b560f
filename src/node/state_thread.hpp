/// \file state_thread.hpp
/// The node's thread for the application's states: does the jobs that the state transfer asks for,
/// so that neither a slow save nor a slow load holds up the predicate thread.
///
/// Threads: construction, wake() and destruction the one that asks for the jobs;
/// others as marked.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "membership/state_jobs.hpp"
#include "node/signal.hpp"
#include "node/snapshot_taker.hpp"
#include "tutti/error.hpp"

namespace tutti {

class StateThread {
 public:
  /// `done` is called on the thread after each job and when it ends. Both outlive this.
  /// `snapshots` are done beside the jobs, which come first.
  [[nodiscard]] static Result<std::unique_ptr<StateThread>> start(StateJobs& jobs,
                                                                  SnapshotTaker& snapshots,
                                                                  std::function<void()> done);
  /// Ends it, and waits for the callback that runs, if one does.
  ~StateThread();
  StateThread(const StateThread&) = delete;
  StateThread& operator=(const StateThread&) = delete;

  /// Something was asked for. Any thread.
  void wake() { asked_.notify(); }

  /// Ends it as soon as the callback that runs has returned, and all snapshots are dropped; what
  /// else was asked for is left undone. Any thread.
  void quit();
  [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  StateThread(StateJobs& jobs, SnapshotTaker& snapshots, std::function<void()> done);
  void run();

  StateJobs& jobs_;
  SnapshotTaker& snapshots_;
  const std::function<void()> done_;
  Signal asked_;
  std::atomic<bool> quit_{false};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace tutti
