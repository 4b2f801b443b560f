/// \file dissemination.hpp
/// The seam between the multicast and the network: to whom a member's bytes go.
/// Today *direct*: each member posts what it sends, and what it says, to each other member.
///
/// Of one push the data comes before the words that guard it (Effects, W1).
/// Threads: the predicate thread. Source: [Spindle, 2.2].
#pragma once
#include <cstdint>
#include <vector>

#include "fabric/slot.hpp"
#include "multicast/outbox.hpp"
#include "multicast/shape.hpp"
#include "predicates/effects.hpp"

namespace tutti {

/// Where the group is in our row, and who its other members are.
struct SubgroupPlace {
  std::uint64_t control_offset = 0;
  std::uint64_t ring_offset = 0;
  std::uint64_t area_offset = 0;  ///< of the pass area, if there is one
  Slot self{};
  std::vector<Slot> peers;           ///< by rank, ours left out
  bool own_delivery_thread = false;  ///< deliver() leaves delivery to deliver_here()
};

class Dissemination {
 public:
  /// Both outlive this.
  Dissemination(const GroupShape& shape, const SubgroupPlace& place)
      : shape_(shape), place_(place) {}

  /// Our new records, then our control words. Returns how many pushes that were.
  std::uint64_t push(const Outbox& out, Effects& effects) const;

  /// What we pass on, and what we say of that, to the members that are not suspected.
  void pass_on(const PassedPosts& posts, const std::vector<bool>& suspected,
               Effects& effects) const;

 private:
  const GroupShape& shape_;
  const SubgroupPlace& place_;
};

}  // namespace tutti
