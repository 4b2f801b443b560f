/// \file total_order.hpp
/// What orders have in common in which all members deliver one sequence: a position says how many
/// rounds of each sender it has passed, and a cut how many come before it.
/// Threads: the predicate thread.
#pragma once
#include <cstdint>
#include <optional>

#include "multicast/order.hpp"

namespace tutti {

template <class Memory>
class TotalOrder : public GroupOrder<Memory> {
 public:
  using GroupOrder<Memory>::GroupOrder;

  [[nodiscard]] bool is_total() const final { return true; }
  [[nodiscard]] std::uint64_t position_of(Rank member) const final;
  [[nodiscard]] std::uint64_t own_position() const final { return state_.delivered; }
  [[nodiscard]] std::uint64_t own_rounds_before(std::uint64_t position) const final;
  [[nodiscard]] std::optional<RingWalk<Memory>> walk(SenderIndex sender,
                                                     const Follower<Memory>& follower) const final;

 protected:
  using GroupOrder<Memory>::state_;

  /// Rounds of the sender that come before the position.
  [[nodiscard]] virtual std::uint64_t rounds_before(std::uint64_t position,
                                                    SenderIndex sender) const = 0;
  /// Counts the records that are in these rounds of each sender, and the messages among them. See
  /// count_cut().
  [[nodiscard]] std::optional<ViewEnd> count_before(
      const IndexedBy<SenderIndex, std::uint64_t>& rounds, std::uint64_t first_seq,
      const Follower<Memory>& follower) const;
};

}  // namespace tutti
