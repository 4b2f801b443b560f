/// \file group_wishes.hpp
/// Which groups each member wishes to be in: what this one says in its row, and what it reads in
/// those of the others.
///
/// The list is of the member, not of a view. The member writes it over in place, and its words may
/// land in any order: the digest tells a reader when all are there. Until then the reader keeps the
/// list that it read last, and a leader proposes no groups (GR5). Words of another member are
/// input: a reader takes nothing of a whole list that no correct member writes. Threads: the
/// predicate thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fabric/fabric.hpp"
#include "membership/open_groups.hpp"
#include "membership/view_rows.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

template <class Memory>
class GroupWishes {
 public:
  /// Works on the words of these rows, if they have a place for wishes.
  GroupWishes(ViewRows<Memory>& rows, const GroupSpaces& spaces, std::uint32_t nodes);

  // Our own.
  [[nodiscard]] bool has(std::string_view name) const;
  /// To be in that very group: it has the name and the kind.
  [[nodiscard]] bool has(const OpenGroup& open) const;
  /// There may be as many as there are spaces.
  [[nodiscard]] bool is_full() const { return own().size() == spaces_.all.size(); }
  void add(GroupWish wish);
  void remove(std::string_view name);
  /// Of our row, to be posted ahead of words that are published.
  [[nodiscard]] Extent extent() const;
  /// They have changed since the last call.
  [[nodiscard]] bool take_changed();

  /// Reads those of the members of the view. What was there before a node came again is forgotten.
  void look();
  /// The last look() found whole lists of these members: none of them was writing.
  [[nodiscard]] bool has_read(const std::vector<Slot>& members) const;
  /// By slot, as they were at the last look().
  [[nodiscard]] const IndexedBy<Slot, std::vector<GroupWish>>& all() const { return wishes_; }
  /// Grows whenever these change.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  [[nodiscard]] const std::vector<GroupWish>& own() const { return wishes_[rows_.self().slot]; }
  void write();
  [[nodiscard]] bool read(Slot slot);

  ViewRows<Memory>& rows_;
  const GroupSpaces& spaces_;
  IndexedBy<Slot, std::vector<GroupWish>> wishes_;
  IndexedBy<Slot, std::uint64_t> read_;         // the digest of what was read there last
  IndexedBy<Slot, std::uint64_t> incarnation_;  // of whom
  std::vector<Slot> torn_;                      // whose lists the last look() did not find whole
  std::uint64_t version_ = 1;
  bool changed_ = false;
};

}  // namespace tutti
