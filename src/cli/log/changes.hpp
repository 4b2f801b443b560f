/// \file changes.hpp
/// Waits until a directory's files change, or the user has enough.
#pragma once
#include <csignal>
#include <string>

#include "base/unique_fd.hpp"

namespace tutti::cli {

/// Uses inotify; where that cannot be had (no watches left), or is not wanted (a network's file
/// system does not tell what other hosts do), something may have changed every kPauseMs. Blocks
/// SIGINT, SIGTERM and SIGHUP outside of wait(), so that none of them comes between a look and the
/// wait.
class Changes {
 public:
  enum class Event { changed, interrupted, reader_gone };

  Changes(const std::string& directory, bool use_inotify);
  ~Changes();
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;

  /// Returns once something may have changed since the last call returned, at least kPauseMs after
  /// it did; or at once after a signal, or once no program reads standard output any more.
  [[nodiscard]] Event wait();

  /// A writer may sync thousands of times a second, and each look reads a file.
  static constexpr long kPauseMs = 100;

 private:
  /// Until `fd` is readable, or that time is over if it is not negative.
  [[nodiscard]] Event wait_for(int fd, long at_most_ms) const;
  void forget_past();

  UniqueFd inotify_;
  sigset_t mask_{};  // as it was before
};

}  // namespace tutti::cli
