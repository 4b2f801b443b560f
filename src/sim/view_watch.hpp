/// \file view_watch.hpp
/// The views that all nodes of a world have on disk. It compares them with each other, with what
/// members show in their rows, and with what applications are delivered (docs/histories.md, D21 to
/// D23, V9): histories do not tell of disks.
/// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "membership/view_log.hpp"
#include "membership/view_words.hpp"
#include "multicast/subgroup.hpp"
#include "sim/log_watch.hpp"
#include "sim/options.hpp"
#include "sim/view_disk.hpp"

namespace tutti::sim {

class ViewWatch {
 public:
  /// `logs` outlives it. `restarts`: the view that the world begins with, if not with the first.
  ViewWatch(const DiskOptions& disk, std::uint64_t seed, const LogWatch& logs,
            std::optional<RestartView> restarts)
      : disk_(disk), seed_(seed), logs_(logs), restarts_(std::move(restarts)) {}

  /// The member's disk. `logged`: the groups that are. It lives as long as this.
  [[nodiscard]] ViewLog* open(const ViewMember& member, std::vector<bool> logged, const Net& net);

  /// What the member's row says of views; `in_view_0`: it is in none yet.
  void look(const ViewMember& member, const std::byte* row, const ViewWords& words, bool in_view_0);
  /// It says so in some other way that it is in that view, or was.
  void shows_view(const ViewMember& member, std::uint64_t view);
  /// It enters a view whose sequence begins with that number, by its own count if it `counted`.
  void enters(const ViewMember& member, std::size_t group, const Proposal& decision,
              std::uint64_t first);
  /// Its application is delivered a message.
  void deliver(std::size_t group, const ViewMember& member, const Message& message);
  /// Its process is no more.
  void gone(const ViewMember& member, bool crashed);
  /// From now on no disk is slow.
  void mend();
  /// When the member's disk has more than now.
  [[nodiscard]] std::uint64_t next_ns(const ViewMember& member) const;

  /// V9. At the end, of a member that runs in that view.
  [[nodiscard]] std::string lacks(const ViewMember& member, std::uint64_t view) const;
  /// What was wrong first; empty if nothing.
  [[nodiscard]] const std::string& finding() const { return finding_; }

 private:
  struct Life {
    std::uint64_t confirmed = 0;                          // the newest view that it says to be
    std::map<std::size_t, std::uint64_t> delivered_in{};  // by group: the view, last
  };
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // a slot, an incarnation

  [[nodiscard]] static Key key(const ViewMember& member) {
    return {member.slot.value, member.incarnation};
  }
  [[nodiscard]] std::uint64_t installed(const ViewMember& member) const;
  void shows_accepted(const ViewMember& member, std::uint64_t view, std::uint64_t ballot,
                      std::uint64_t digest);
  void installs(std::uint32_t slot, const InstalledOnDisk& before, const InstalledOnDisk& next);
  void confirmed(std::uint32_t slot, std::uint64_t view);
  void find(std::uint32_t slot, const std::string& what);

  const DiskOptions disk_;
  const std::uint64_t seed_;
  const LogWatch& logs_;
  const std::optional<RestartView> restarts_;
  std::map<std::uint32_t, ViewDisk> disks_;      // by slot
  std::map<std::uint32_t, ViewMember> running_;  // by slot
  std::map<Key, Life> lives_;
  std::map<std::uint64_t, InstalledOnDisk> written_;  // by view: as it was written first
  std::vector<bool> logged_;                          // by group
  bool mended_ = false;
  std::string finding_;
};

}  // namespace tutti::sim
