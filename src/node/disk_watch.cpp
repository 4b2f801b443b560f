#include "node/disk_watch.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "multicast/multicast.hpp"

namespace tutti {

// A member that left is forgotten: that its disk is fast again would not be true. In a new view a
// member says 0 until it has said how far it is; that it has said so does not mean that it got
// further.
void DiskWatch::take(std::uint64_t now_ns, const std::string& group, std::span<const Mark> marks,
                     bool quorum) {
  std::erase_if(watched_, [&](const Watched& watched) {
    return watched.group == group &&
           std::ranges::find(marks, watched.member, &Mark::member) == marks.end();
  });
  std::uint64_t most = 0;
  for (const Mark& mark : marks) {
    if (mark.persisted != kAllPersisted) most = std::max(most, mark.persisted);
  }
  for (const Mark& mark : marks) {
    if (mark.member == self_) continue;
    Watched& watched = watched_of(now_ns, group, mark);
    if (mark.persisted > watched.persisted || mark.persisted >= most) watched.moved_ns = now_ns;
    watched.persisted = std::max(watched.persisted, mark.persisted);
    const auto ahead = std::ranges::count_if(
        marks, [&](const Mark& one) { return one.persisted > mark.persisted; });
    tell(now_ns, watched, !quorum || 2 * static_cast<std::size_t>(ahead) <= marks.size());
  }
}

DiskWatch::Watched& DiskWatch::watched_of(std::uint64_t now_ns, const std::string& group,
                                          const Mark& mark) {
  for (Watched& watched : watched_) {
    if (watched.group == group && watched.member == mark.member) return watched;
  }
  return watched_.emplace_back(Watched{.group = group, .member = mark.member, .moved_ns = now_ns});
}

void DiskWatch::tell(std::uint64_t now_ns, Watched& watched, bool awaited) const {
  const std::uint64_t still_ns = now_ns - watched.moved_ns;
  const Slowness::Say say = watched.slowness.look(now_ns, still_ns, slow_after_ns_);
  if (say == Slowness::Say::nothing || !log_) return;
  const std::string disk = "the disk of member '" + watched.member + "'";
  if (say == Slowness::Say::over) {
    log_(LogLevel::warning,
         "group '" + watched.group + "'" +
             (watched.awaited ? " no longer waits for " + disk : ": " + disk + " has got further"));
    return;
  }
  watched.awaited = awaited;
  const std::string still =
      "it has not got further for " + in_seconds(std::chrono::nanoseconds(still_ns)) + " s";
  if (awaited) {
    log_(LogLevel::warning, "group '" + watched.group + "' waits for " + disk + ": " + still);
    return;
  }
  log_(LogLevel::warning, "group '" + watched.group + "': " + disk + " is behind: " + still +
                              "; a majority of the disks goes on without it, until some MiB wait "
                              "for it");
}

}  // namespace tutti
