/// \file pass_on.hpp
/// How the members of a view that go on come to have the same of a lost sender, where one of them
/// may have delivered what another lacks (Stability::delivers_alone).
///
/// Invariant I8: before a cut is found, the members that go on make each other's receipts of a lost
/// sender equal: the one that has most, the lowest of those, passes on what others lack. Nothing
/// else is taken of a sender once it is suspected: it may live, and send for ever.
/// Threads: the predicate thread. Source: docs/decisions/0007, models/view_change.pml, AGREED=1.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/counter.hpp"
#include "multicast/order.hpp"
#include "multicast/passed_pieces.hpp"
#include "multicast/view_state.hpp"

namespace tutti {

template <class Memory>
class PassOn {
 public:
  PassOn(ViewState<Memory>& state, GroupOrder<Memory>& order, Counter& received_messages)
      : state_(state),
        shape_(state.shape),
        order_(order),
        received_messages_(received_messages),
        pieces_(state.shape, state.memory),
        ignored_(state.shape.senders()) {}

  /// Takes what others pass on of suspected senders, and passes on, once all others have wedged.
  /// To be called again and again while this member is wedged.
  void step(const IndexedBy<Rank, bool>& suspected, bool all_wedged,
            const Follower<Memory>& follower);

  /// Of these senders nothing more is taken but what is passed on.
  [[nodiscard]] const IndexedBy<SenderIndex, bool>& ignored() const { return ignored_; }

  /// What is to be posted since the last call, to those that are not suspected.
  [[nodiscard]] PassedPosts take_posts() { return pieces_.take_posts(); }
  [[nodiscard]] std::uint64_t passed() const { return pieces_.passed(); }

 private:
  [[nodiscard]] std::optional<RingCursor> end_of(SenderIndex sender,
                                                 const Follower<Memory>& follower);
  [[nodiscard]] bool take(const PassedPiece& piece, const Follower<Memory>& follower);
  void tell_reach(SenderIndex sender, const Follower<Memory>& follower);
  [[nodiscard]] std::vector<Rank> lacking(SenderIndex sender,
                                          const IndexedBy<Rank, bool>& suspected) const;
  [[nodiscard]] bool pass(SenderIndex sender, const Reach& from, const Follower<Memory>& follower);

  ViewState<Memory>& state_;
  const GroupShape& shape_;
  GroupOrder<Memory>& order_;
  Counter& received_messages_;
  PassedPieces<Memory> pieces_;
  IndexedBy<SenderIndex, bool> ignored_;  // I8
};

}  // namespace tutti
