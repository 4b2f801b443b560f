/// \file lcr.hpp
/// The order lcr: that of round_robin, with records, acknowledgements and free space told along the
/// ring of members. The paper's vector clocks are not needed: a round extends their precedence, for
/// a sender's message is in a later round than all that it had received (docs/decisions/0013).
///
/// Words that change again and again go to the member behind only. What all others need is posted
/// to all: that a member has entered the view, that it has delivered everything, and, once it has
/// wedged, what it has received.
///
/// Invariants:
///  LC1  A member that wedges posts what it has received, which changes no more, to all before the
///       membership posts that it has wedged. So who sees that has its last words.
///  LC2  A survivor's records beyond what all have received are not here: its `lacking` tells the
///       round of the first of them. It counts for a cut if it was told of no later round than
///       the first one that a member of the cut lacks, and if its record is not before that.
/// Threads: the predicate thread. Source: [LCR, 4.2, 4.3, 4.4].
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "multicast/neighbours.hpp"
#include "multicast/round_robin.hpp"
#include "sst/lane_words.hpp"

namespace tutti {

template <class Memory>
class Lcr final : public RoundRobin<Memory> {
 public:
  Lcr(ViewState<Memory>& state, const Stability<Memory>& stability, MulticastCounters& counters);

  bool step(const SendRing* own) override;
  void publish_received() override;
  [[nodiscard]] std::uint64_t least_position() const override;
  bool tell_position() override;

  bool tell_wedged(const IndexedBy<Rank, bool>& suspected,
                   const Follower<Memory>& follower) override;

 private:
  using RoundRobin<Memory>::state_;

  [[nodiscard]] std::optional<std::uint64_t> first_lacking(
      SenderIndex sender, std::uint64_t from, const Follower<Memory>& follower) override;
  [[nodiscard]] std::uint64_t first_not_received(const IndexedBy<Rank, bool>& suspected) const;
  [[nodiscard]] std::optional<Lacking> lacking_from(std::uint64_t round,
                                                    const Follower<Memory>& follower);

  MulticastCounters& counters_;
  const LaneWords words_;
  const Neighbours ring_;
  IndexedBy<SenderIndex, std::uint64_t> done_;  // as published
  std::uint64_t told_position_ = 0;             // to all
  bool shown_ = false;                          // LC1
  std::optional<std::uint64_t> lacking_from_;   // as published
};

}  // namespace tutti
