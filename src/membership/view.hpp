/// \file view.hpp
/// A view: its members in rank order, the same at all members that install it.
///
/// A node is known by its slot, its index in the node list, and by its incarnation, a random number
/// of one start: the same node started again is another member. Survivors keep their order,
/// joiners come after them in the order of their slots. Source: [Spindle, 2.1]; docs/protocol.md.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "fabric/slot.hpp"
#include "membership/open_groups.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/types.hpp"

namespace tutti {

struct ViewMember {
  Slot slot{};
  std::uint64_t incarnation = 0;

  friend bool operator==(const ViewMember&, const ViewMember&) = default;
};

/// The id of the view that a group starts with.
inline constexpr std::uint64_t kFirstView = 1;

struct View {
  std::uint64_t id = 0;
  IndexedBy<Rank, ViewMember> members{};
  /// So many of them, the first in rank order, were in the view before; the others joined.
  std::uint32_t survivors = 0;
  /// Those that nodes joined at run time; the groups that all nodes have are not in the list.
  OpenGroups groups{};

  /// All ranks, from 0 on.
  [[nodiscard]] auto ranks() const { return members.indices(); }
  /// Rank of the member in that slot; nothing if there is none.
  [[nodiscard]] std::optional<Rank> rank_of(Slot slot) const {
    const auto found = std::ranges::find(members, slot, &ViewMember::slot);
    if (found == members.end()) return {};
    return Rank{static_cast<std::uint32_t>(found - members.begin())};
  }
  [[nodiscard]] bool contains(const ViewMember& member) const {
    return std::ranges::find(members, member) != members.end();
  }

  friend bool operator==(const View&, const View&) = default;
};

}  // namespace tutti
