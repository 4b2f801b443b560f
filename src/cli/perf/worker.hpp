/// \file worker.hpp
/// The thread of a measured member that sends and, with Drive::caller, runs the predicate loop.
/// Invariants: PW1 only this thread touches the senders. PW2 it does not wait longer than kSlice
/// without looking for calls. Threads: call() from one other thread.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "cli/perf/plan.hpp"
#include "cli/perf/sender.hpp"
#include "tutti/node.hpp"

namespace tutti::cli {

class Worker {
 public:
  /// Node and senders outlive it.
  Worker(Node& node, std::deque<Sender>& senders, const PerfPlan& plan, bool spin);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs `task` on the worker between two turns, and waits until that is done.
  void call(std::function<void()> task);

 private:
  void loop();
  /// False: it is to stop.
  [[nodiscard]] bool run_task();
  [[nodiscard]] Sender* most_urgent();
  void back_off_as_sender();
  void back_off_as_driver();
  void wait_for_space(Sender& sender);
  void wait_for_task();

  Node& node_;
  std::deque<Sender>& senders_;
  const bool drives_;
  const bool may_sleep_;
  const bool spin_;
  std::uint32_t idle_turns_ = 0;

  std::atomic<bool> has_task_ = false;  // a hint to look under the mutex
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tutti::cli
