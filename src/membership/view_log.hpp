/// \file view_log.hpp
/// What a member keeps on disk of its views, for a total restart (docs/restart-model.md, Z2, Z10):
/// the seam between the membership and whoever writes it.
///
/// A function that returns false has begun to write, or is still at it: it is asked again, with the
/// same, until it is true, and the member says meanwhile nothing of what is being written.
/// Threads: the predicate thread. No call waits for the disk.
#pragma once
#include <cstdint>
#include <vector>

#include "membership/proposal.hpp"
#include "membership/view.hpp"

namespace tutti {

class ViewLog {
 public:
  ViewLog() = default;
  virtual ~ViewLog() = default;
  ViewLog(const ViewLog&) = delete;
  ViewLog& operator=(const ViewLog&) = delete;

  /// It is on disk that this member accepts the proposal for what follows `view`. `ballot`: 1 + the
  /// rank of who leads.
  [[nodiscard]] virtual bool has_accepted(std::uint64_t view, const Proposal& proposal,
                                          std::uint64_t ballot) = 0;
  /// It is on disk that this member enters that view, whose first messages have these numbers, by
  /// group; 0 of a group that is not logged.
  [[nodiscard]] virtual bool has_installed(const View& view,
                                           const std::vector<std::uint64_t>& firsts) = 0;
  /// A majority of that view, which is the last one installed, has on disk what comes before it.
  virtual void confirmed(std::uint64_t view) = 0;
};

/// A view that nodes which come back from their disks have agreed on: they found it as others found
/// the first one.
struct RestartView {
  std::uint64_t id = 0;  ///< odd, as that of the first view: view 0 has the other block
  std::vector<Slot> members{};
  std::vector<std::uint64_t> firsts{};  ///< by group: the number of its first message

  [[nodiscard]] bool has(Slot slot) const {
    for (const Slot member : members) {
      if (member == slot) return true;
    }
    return false;
  }
};

}  // namespace tutti
