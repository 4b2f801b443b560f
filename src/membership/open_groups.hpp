/// \file open_groups.hpp
/// The groups that nodes join and leave while they run: which there are, who is in them, and what
/// follows from what the members wish.
///
/// Rows are laid out once. So a plan has spaces: groups that nobody is in at first. A group that is
/// open has one of them; its options are those of its space. A member says in its row which groups
/// it wishes to be in (group_wishes.hpp). A view names the groups that are open in it, and a change
/// of view makes the next list from the wishes (docs/protocol.md, "Groups at run time").
///  GR1  The lists of a view are the same at all its members: they are part of the proposal.
///  GR2  In a list no name and no space is twice, members are of the view, and no group is without
///       one. A space that one group gives up is free for a view before it is another's.
///  GR3  If no wish changes, the list that follows from a list is that list: changes end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/slot.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

/// Of a group that is joined at run time, in bytes.
inline constexpr std::size_t kOpenNameMax = 64;

/// The groups of a plan that are spaces. Two of them are of a kind if they have the same options.
struct GroupSpaces {
  struct Space {
    std::uint32_t group = 0;  ///< its index in the plan
    std::uint32_t kind = 0;   ///< the index of the first space of its kind
  };
  std::vector<Space> all{};  ///< in the order of their groups

  [[nodiscard]] const Space* find(std::uint32_t group) const;
};

struct OpenGroup {
  std::string name{};
  std::uint32_t group = 0;      ///< the space that it has
  std::uint64_t since = 0;      ///< the first view in which it is open; its identity, with `group`
  std::vector<Slot> members{};  ///< in ascending order

  [[nodiscard]] bool has(Slot slot) const;
  friend bool operator==(const OpenGroup&, const OpenGroup&) = default;
};

/// In the order of their spaces.
using OpenGroups = std::vector<OpenGroup>;

[[nodiscard]] const OpenGroup* find_space(const OpenGroups& open, std::uint32_t group);
[[nodiscard]] const OpenGroup* find_name(const OpenGroups& open, std::string_view name);

/// A member wishes to be in the group of that name, which is in a space of that kind.
struct GroupWish {
  std::string name{};
  std::uint32_t kind = 0;

  friend bool operator==(const GroupWish&, const GroupWish&) = default;
};

/// What follows `now` in view `next` if `stay`, in rank order, are the members that were there
/// before, with what each of them wishes. A wish for an open group of another kind changes nothing,
/// nor does one for which no space of its kind is free.
[[nodiscard]] OpenGroups next_groups(const GroupSpaces& spaces, const OpenGroups& now,
                                     std::uint64_t next, const std::vector<Slot>& stay,
                                     const IndexedBy<Slot, std::vector<GroupWish>>& wishes);

/// GR2, but for the members being of the view: they are nodes, of which there are so many.
[[nodiscard]] bool is_sensible(const GroupSpaces& spaces, const OpenGroups& open,
                               std::uint32_t nodes);

/// As words: none if there are no groups, so that nothing changes where there are no spaces.
void put(std::vector<std::uint64_t>& words, const OpenGroups& open);
class WordReader;
[[nodiscard]] OpenGroups take_open_groups(WordReader& reader);
/// The most words of that, with so many spaces and nodes.
[[nodiscard]] std::size_t open_groups_words(std::size_t spaces, std::size_t nodes);

}  // namespace tutti
