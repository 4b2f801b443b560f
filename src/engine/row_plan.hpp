/// \file row_plan.hpp
/// What the nodes of a cluster have in common, the same at all of them: the nodes that may be
/// members, the groups, and where everything lies in their rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/slot.hpp"
#include "membership/open_groups.hpp"
#include "membership/state_words.hpp"
#include "membership/view_words.hpp"
#include "requests/request_words.hpp"
#include "sst/row_layout.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/options.hpp"

namespace tutti {

struct RowPlan {
  /// `groups` are resolved (members and senders filled in), in the order of their names.
  /// `state_ring_bytes`: of what is under way of a state, a power of two, or 0 for no states.
  /// `litmus`: there are trials of paths (litmus.hpp).
  /// `request_max_bytes`: of a request or a reply, 0 for no requests.
  /// `group_spaces`: those of the groups that nodes join at run time.
  RowPlan(std::vector<std::string> node_names, std::vector<GroupOptions> node_groups,
          std::size_t state_ring_bytes, bool litmus, std::size_t request_max_bytes,
          GroupSpaces group_spaces = {});

  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(names.size()); }
  /// Of the largest row.
  [[nodiscard]] std::size_t row_bytes() const;

  IndexedBy<Slot, std::string> names;
  std::vector<GroupOptions> groups;
  GroupSpaces spaces;
  ViewWords words;
  StateWords states{};            ///< its ring has no bytes if there are no states
  std::size_t litmus_offset = 0;  ///< 0 if there are no trials
  RequestWords requests{};        ///< its bytes_max is 0 if there are none
  IndexedBy<Slot, RowLayout> layouts;
};

}  // namespace tutti
