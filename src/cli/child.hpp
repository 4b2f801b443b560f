/// \file child.hpp
/// A child process, of this program or another. Invariants: CH1 it never outlives this process; CH2
/// it never outlives its Child: the destructor kills and reaps it. Threads: the main thread (CH1
/// depends on the thread that forked).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// What the child gets as its standard streams; -1: the parent's own.
struct ChildStreams {
  int input = -1;
  int output = -1;
  int error = -1;
};

class Child {
 public:
  /// Runs this program with these arguments (without the program's name).
  [[nodiscard]] static Result<Child> start(const std::vector<std::string>& arguments,
                                           const ChildStreams& streams);
  /// Runs another program, found by its name as in a shell, with its arguments.
  [[nodiscard]] static Result<Child> start_other(const std::vector<std::string>& words,
                                                 const ChildStreams& streams);

  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), end_(std::move(other.end_)), status_(other.status_) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(end_, other.end_);
    std::swap(status_, other.status_);
    return *this;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill(); }

  /// Whether it still runs; reaps it if not.
  [[nodiscard]] bool running();
  /// Ended by itself with status 0. Only once running() is false.
  [[nodiscard]] bool succeeded() const { return status_ == 0; }
  /// Such as "ended with status 3" or "was killed by signal 9 (Killed)".
  [[nodiscard]] std::string ending() const;
  /// Nothing if a signal ended it.
  [[nodiscard]] std::optional<int> exit_status() const;
  /// Whether a signal ended it: then it is rather the cause of the others' failures.
  [[nodiscard]] bool killed_by_signal() const;

  /// Waits until one of these that is not reaped yet has ended; at most until that time (now_ns) or
  /// a signal.
  static void wait_for_an_end(std::span<const Child* const> children, std::int64_t deadline_ns);

  /// Ends it by force, if it still runs, and reaps it.
  void kill();

 private:
  Child(pid_t pid, UniqueFd end) : pid_(pid), end_(std::move(end)) {}
  [[nodiscard]] static Result<Child> fork_and_exec(const char* file, std::vector<std::string> words,
                                                   const ChildStreams& streams);
  pid_t pid_;                  // -1: reaped, or moved from
  UniqueFd end_;               // a pidfd: readable once the process has ended
  std::optional<int> status_;  // of waitpid, once reaped
};

/// Different TCP ports on 127.0.0.1 that no process uses at this moment.
[[nodiscard]] Result<std::vector<int>> free_loopback_ports(std::size_t count);

}  // namespace tutti::cli
