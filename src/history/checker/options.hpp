/// \file options.hpp
/// What the checker is told about a run. A bound of 0 is not checked, and the report says so.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "tutti/types.hpp"

namespace tutti::history {

struct GroupRules {
  /// Empty: the level of the group's first delivery; agreed if some are that and others atomic.
  std::optional<Level> level{};
  bool round_robin = false;  ///< rounds are recorded, and (round, rank) must rise (D7)
  bool one_service = false;  ///< no sender may ask for another service than the level's (D14)
  bool one_number = false;   ///< a view ends with one number, as with token_ring (D6)
  bool durable = false;      ///< a member that leaves lacks what was not on all disks (D7)
  std::uint64_t first = 0;   ///< the ordinal with which the group begins (D7)
  bool at_run_time = false;  ///< members come and go; a view that lists none has none
  /// By incarnation, the view in which a member asked to be out of such a group: from then on it
  /// need not deliver all, also in views that still list it (D4 D5 D10).
  std::map<std::uint64_t, std::uint64_t> parted{};
};

struct CheckOptions {
  /// The histories of all incarnations are given, including those that crashed. If not, the checks
  /// that need all of them are skipped.
  bool complete = true;
  bool primary = true;  ///< only a majority goes on (M4)
  std::map<std::uint16_t, GroupRules> groups{};
  GroupRules other_groups{};
  /// Sends are recorded in step with the predicate thread, as in a simulator: then each send in a
  /// view after its wedge is a violation (M8), else only one that was delivered in that view.
  bool strict_wedge = false;
  std::uint32_t suspicion_views = 2;    ///< a suspect is gone so many views later (M6), from 1
  std::uint64_t deliver_bound_ns = 0;   ///< V1: from send or heal to the delivery
  std::uint64_t view_bound_ns = 0;      ///< M10, V6: from heal or the end of a pause to the view
  std::uint64_t stop_bound_ns = 0;      ///< V3: from losing the majority to having stopped
  std::uint64_t leave_bound_ns = 0;     ///< V4: from leave or eviction to having stopped
  std::uint64_t wake_bound_ns = 0;      ///< V5: how much a lost doorbell may delay
  std::uint64_t suspect_after_ns = 0;   ///< M6, M10: silence after which members may be suspected
  std::uint64_t pause_harmless_ns = 0;  ///< V6: shorter pauses cause no removal
  std::uint64_t pause_fatal_ns = 0;     ///< V6: longer ones cause exactly one
  std::uint64_t pause_view_ns = 0;   ///< V6: from the pause's end to the removal; 0: view_bound_ns
  std::uint64_t evict_bound_ns = 0;  ///< F2: from the view without a member to its last delivery
  std::uint64_t heartbeat_interval_ns = 0;  ///< V2: the shortest in quiet times
  std::uint64_t nulls_slack = 64;  ///< V2: nulls per view beyond the messages of the others
  std::uint32_t shown_max = 20;    ///< violations shown per property; all are counted
};

}  // namespace tutti::history
