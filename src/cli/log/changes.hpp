/// \file changes.hpp
/// Waits until a directory's files change, or the user has enough.
#pragma once
#include <optional>
#include <string>

#include "base/unique_fd.hpp"

namespace tutti::cli {

/// Uses inotify; where that cannot be had (no watches left), or is not wanted (a network's file
/// system does not tell what other hosts do), something may have changed every kPauseMs. SIGINT,
/// SIGTERM and SIGHUP are blocked within wait() alone, so that none of them comes between a look at
/// interrupted() and the wait, and each still comes while output is written.
class Changes {
 public:
  enum class Event { changed, interrupted, reader_gone, directory_gone };

  Changes(std::string directory, bool use_inotify);
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;

  /// Returns once something may have changed since the last call returned, at least kPauseMs after
  /// it did; or at once after a signal, or once no program reads standard output any more; or once
  /// the path does not lead to the directory any more.
  [[nodiscard]] Event wait();

  /// A writer may sync thousands of times a second, and each look reads a file.
  static constexpr long kPauseMs = 100;
  static constexpr long kLookAtDirectoryMs = 1000;

 private:
  class Blocked;
  /// Until `fd` is readable, if it is one; nothing once that time is over.
  [[nodiscard]] std::optional<Event> wait_for(const Blocked& blocked, int fd,
                                              long at_most_ms) const;
  [[nodiscard]] bool is_gone() const;
  void forget_past();

  const std::string path_;
  const UniqueFd directory_;  // held, so that no other gets its inode
  UniqueFd inotify_;
};

}  // namespace tutti::cli
