/// \file disk_watch.hpp
/// Tells a person for whose disk a group at Level::durable waits, and when that is over.
///
/// All members of such a group deliver as far as the slowest disk has come, so how far they have
/// delivered (LagWatch) does not tell which it is. A member is named if another member has more on
/// disk, and it has not got further for slow_after.
/// Of this node's own disk CallWatch tells; the watch names only others.
/// Threads: the predicate thread. No clock: times are given, and are LagWatch's watched time (V6).
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "node/slowness.hpp"
#include "tutti/options.hpp"

namespace tutti {

class DiskWatch {
 public:
  /// What a member says of its log; kAllPersisted if it keeps none.
  struct Mark {
    std::string member;
    std::uint64_t persisted = 0;
  };

  /// `self` is this node's name.
  DiskWatch(std::string self, std::chrono::nanoseconds slow_after, const LogCallback& log)
      : self_(std::move(self)),
        slow_after_ns_(static_cast<std::uint64_t>(slow_after.count())),
        log_(log) {}

  /// The marks of all members of the view, and the time now. `quorum`: the group waits for a
  /// majority of the disks only.
  void take(std::uint64_t now_ns, const std::string& group, std::span<const Mark> marks,
            bool quorum = false);

 private:
  struct Watched {
    std::string group;
    std::string member;
    Slowness slowness{};
    std::uint64_t persisted = 0;
    std::uint64_t moved_ns = 0;  // or lacked nothing
    bool awaited = true;         // the group delivers nothing more before it gets further
  };

  [[nodiscard]] Watched& watched_of(std::uint64_t now_ns, const std::string& group,
                                    const Mark& mark);
  void tell(std::uint64_t now_ns, Watched& watched, bool awaited) const;

  const std::string self_;
  const std::uint64_t slow_after_ns_;
  const LogCallback& log_;
  std::vector<Watched> watched_;  // of the views of all groups
};

}  // namespace tutti
