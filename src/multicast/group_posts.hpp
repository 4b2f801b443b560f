/// \file group_posts.hpp
/// Where the group lies in our row, and how what it wants posted becomes posts of the fabric.
///
/// Of one push the data comes before the words that guard it (Effects, W1).
/// Threads: the predicate thread. Source: [Spindle, 2.2].
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/slot.hpp"
#include "multicast/outbox.hpp"
#include "multicast/shape.hpp"
#include "predicates/effects.hpp"

namespace tutti {

/// Where the group is in our row, and who its other members are.
struct GroupInRow {
  std::uint64_t control_offset = 0;
  std::uint64_t ring_offset = 0;
  std::uint64_t area_offset = 0;  ///< of the pass area, if there is one
  std::uint64_t lane_offset = 0;  ///< of the lane, if there is one
  Slot self{};
  std::vector<Slot> peers;  ///< by rank, ours left out
  /// Not by deliver(): another thread calls deliver_here(), or take_here() and release_here().
  bool delivered_elsewhere = false;
};

class GroupPosts {
 public:
  /// Both outlive this.
  GroupPosts(const GroupShape& shape, const GroupInRow& in_row) : shape_(shape), in_row_(in_row) {}

  /// Our new records, then our control words. Returns how many pushes that were.
  std::uint64_t push(const Outbox& out, Effects& effects) const;

  /// What we pass on, and what we say of that, to the members that are not suspected.
  void pass_on(const PassedPosts& posts, const IndexedBy<Rank, bool>& suspected,
               Effects& effects) const;

  /// Our control words, to the members that are not suspected.
  void show(const IndexedBy<Rank, bool>& suspected, Effects& effects) const;

 private:
  std::uint64_t push_along(const Outbox& out, std::span<const Extent> data, Effects& effects) const;
  [[nodiscard]] Effects::Words control() const;
  [[nodiscard]] const Slot& slot_of(Rank rank) const {
    return in_row_.peers[rank.value - (rank > shape_.self ? 1 : 0)];
  }

  const GroupShape& shape_;
  const GroupInRow& in_row_;
};

}  // namespace tutti
