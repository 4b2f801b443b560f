/// \file options.hpp
/// What the checker is told about a run. A bound of 0 means: not checked, and the report says so.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "tutti/types.hpp"

namespace tutti::history {

struct GroupRules {
  std::optional<Level> level{};  ///< empty: that of the group's first delivery
  bool round_robin = false;      ///< rounds are recorded and must rise as (round, rank) does (D7)
};

struct CheckOptions {
  /// All histories of all incarnations are here, also of those that crashed. If not, what needs
  /// them is skipped.
  bool complete = true;
  bool primary = true;  ///< only a majority goes on (M4)
  std::map<std::uint16_t, GroupRules> groups{};
  GroupRules other_groups{};
  /// Sends are recorded in step with the predicate thread, as in a simulator: then a send in a view
  /// after its wedge is wrong (M8). Else only one that was also delivered in that view.
  bool strict_wedge = false;
  std::uint32_t suspicion_views = 2;    ///< after so many views a suspect is gone (M6), from 1
  std::uint64_t deliver_bound_ns = 0;   ///< V1: from send or heal to the delivery
  std::uint64_t view_bound_ns = 0;      ///< M10, V6: from heal or the end of a pause to the view
  std::uint64_t stop_bound_ns = 0;      ///< V3: from losing the majority to having stopped
  std::uint64_t leave_bound_ns = 0;     ///< V4: from leave or eviction to having stopped
  std::uint64_t wake_bound_ns = 0;      ///< V5: how much a lost doorbell may delay
  std::uint64_t suspect_after_ns = 0;   ///< M6, M10: silence after which members may be suspected
  std::uint64_t pause_harmless_ns = 0;  ///< V6: shorter pauses change no view
  std::uint64_t pause_fatal_ns = 0;     ///< V6: longer ones change exactly one
  std::uint64_t pause_view_ns = 0;      ///< V6: so long after a pause it may; 0: view_bound_ns
  std::uint64_t evict_bound_ns = 0;     ///< F2: from the view without it to its last delivery
  std::uint64_t heartbeat_interval_ns = 0;  ///< V2: in quiet times no more often than that
  std::uint64_t nulls_slack = 64;  ///< V2: nulls per view beyond the messages of the others
  std::uint32_t shown_max = 20;    ///< violations shown per property; all are counted
};

}  // namespace tutti::history
