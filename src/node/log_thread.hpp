/// \file log_thread.hpp
/// The thread on which a node calls the application's log callback, so that one that blocks holds
/// up nothing but the log.
///
/// Invariants: LG1 lines are written one at a time, in the order in which they were said; those
/// that wait have bounded room, and what did not fit is counted and told (LQ2 and LQ3 of
/// base/log_queue.hpp). LG2 once end() has returned nothing is written.
/// Threads: say() and flush() any; start() one, before the others; end() one, never from `write`.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log_queue.hpp"
#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

class LogThread {
 public:
  /// `write` must not throw.
  explicit LogThread(LogCallback write) : write_(std::move(write)) {}
  ~LogThread() { end(); }
  LogThread(const LogThread&) = delete;
  LogThread& operator=(const LogThread&) = delete;

  [[nodiscard]] Result<void> start();

  /// Never waits for a line to be written. Nothing comes of what is said before start(), after
  /// end(), or by `write` itself: a line for each line would never end.
  void say(LogLevel level, std::string_view text);

  /// Waits until what was said before this is written; inside `write` it does not wait.
  void flush();

  /// Writes what still waits, ends the thread and frees `write`.
  void end();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;  // something was said or written, or the end is wanted
  LogQueue queue_;
  std::uint64_t said_ = 0;  // lines so far
  std::uint64_t done_ = 0;  // of them written, or dropped from the queue
  bool takes_ = false;      // between start() and end()
  LogCallback write_;
  std::thread thread_;
};

}  // namespace tutti
