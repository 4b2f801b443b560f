/// \file multicast.hpp
/// The predicates of one group in one view: receive, send, stability, release. What they find is
/// written to our own control words and to the delivery bounds; what must be pushed goes into the
/// outbox.
///
/// How records are sent and their space is used again is the same for every group: here. What
/// differs is behind three seams: whose message comes next (GroupOrder), when it may be delivered
/// (Stability), and which way its bytes go (Dissemination).
/// Threads: the predicate thread. Source: [Spindle, 2.4, 3.2].
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "flow/own_space.hpp"
#include "multicast/bounds.hpp"
#include "multicast/counters.hpp"
#include "multicast/cut.hpp"
#include "multicast/dissemination.hpp"
#include "multicast/follower.hpp"
#include "multicast/order.hpp"
#include "multicast/outbox.hpp"
#include "multicast/pass_on.hpp"
#include "multicast/shape.hpp"
#include "multicast/stability.hpp"
#include "multicast/view_state.hpp"
#include "multicast/violation.hpp"
#include "smc/send_ring.hpp"

namespace tutti {

/// What a member says that keeps no log of a group which is logged.
inline constexpr std::uint64_t kAllPersisted = ~0ULL;

template <class Memory>
class Multicast {
 public:
  Multicast(const GroupShape& shape, Memory memory, SendRing* own_ring, Bounds& bounds,
            MulticastCounters& counters);

  /// One pass over the predicates. True if anything advanced.
  bool step(Outbox& out);

  /// Tells how far delivery has come: Follower::position(), and, where senders are not ordered
  /// among each other, the rounds of each. The driver calls them before step(); it is published
  /// with the next push.
  void set_delivered(std::uint64_t position) { state_.set_delivered(position); }
  void set_consumed(SenderIndex sender, std::uint64_t rounds) {
    order_->publish_consumed(sender, rounds);
  }

  /// Of a group that is logged: everything before that number is on this member's disk.
  void set_persisted(std::uint64_t seq);
  /// What that member says of it; 0 if it has said nothing yet, kAllPersisted if it keeps no log.
  [[nodiscard]] std::uint64_t persisted_of(Rank member) const;
  /// What comes before it is on the disks that Level::durable waits for: those of all members of
  /// this view, or of a majority of them. kAllPersisted where the level waits for none.
  [[nodiscard]] std::uint64_t durable_end();

  /// A majority of the members says that everything before this view is on its disk.
  [[nodiscard]] bool is_on_disks() const;

  /// Number of the view's first message, from any member that says it. Nothing: not known yet.
  [[nodiscard]] std::optional<std::uint64_t> first_seq() const;
  /// Says it to others that joined as well: all that told it may be lost before they hear of it.
  void tell_first_seq(std::uint64_t seq);

  /// No other member is in this view, or none any more.
  [[nodiscard]] bool alone() const { return state_.blocks.alone(); }

  /// See OwnSpace.
  void hold_space(bool held) { space_.hold(held); }
  void set_drained() { space_.set_drained(); }
  [[nodiscard]] bool drained() const { return space_.drained(); }

  /// The view ends: nothing more is sent in it, nor at atomic received (I5).
  void wedge() {
    order_->wedge();
    state_.wedged = true;
  }
  /// Delivery goes on between the wedge and the decision.
  [[nodiscard]] bool delivers_wedged() const { return stability_->delivers_wedged(); }

  /// True once nothing that members not suspected sent in this view is still to come: at once where
  /// a wedged member receives no more. To be asked when the others have wedged.
  [[nodiscard]] bool settled(const IndexedBy<Rank, bool>& suspected) const;

  /// See GroupOrder.
  [[nodiscard]] bool tell_wedged(const IndexedBy<Rank, bool>& suspected,
                                 const Follower<Memory>& follower) {
    return order_->tell_wedged(suspected, follower);
  }
  bool tell_position() { return order_->tell_position(); }

  /// See PassOn::step(); nothing happens at a level that needs none.
  void pass_on(const IndexedBy<Rank, bool>& suspected, bool all_wedged,
               const Follower<Memory>& follower) {
    if (stability_->passes_on()) pass_on_.step(suspected, all_wedged, follower);
  }
  /// What it has to post, to those that are not suspected.
  [[nodiscard]] PassedPosts take_passed() { return pass_on_.take_posts(); }
  [[nodiscard]] std::uint64_t pieces_passed() const { return pass_on_.passed(); }

  /// See GroupOrder. Once the members that go on have wedged and settled.
  [[nodiscard]] std::optional<Cut> find_cut(const IndexedBy<Rank, bool>& goes_on,
                                            const Follower<Memory>& follower);
  [[nodiscard]] bool is_sensible(const Cut& cut) const { return order_->is_sensible(cut); }

  /// Lets delivery go up to the cut, and no further: tells it which records come before. The bounds
  /// are closed, and nobody reads them (N2). False: to be tried again.
  [[nodiscard]] bool apply_cut(const Cut& cut, const Follower<Memory>& follower);
  /// The others went on without us while the cut was applied (Y5).
  [[nodiscard]] bool overtaken() const { return state_.overtaken; }
  /// Delivery has reached the cut that was applied.
  [[nodiscard]] bool at_cut(const Cut& cut, const Follower<Memory>& follower) const {
    return order_->at_cut(cut, end_, follower);
  }

  // Once the cut is applied: where the next view starts.
  /// The number of its first message. Undefined where senders are not ordered among each other.
  [[nodiscard]] std::uint64_t next_seq() const { return end_.next_seq; }
  /// Our own records that come before it, of all views.
  [[nodiscard]] std::uint64_t own_records_before_cut() const {
    const GroupShape& shape = state_.shape;
    return shape.own_base_records +
           (shape.own_sender == kNoSender ? 0 : end_.records[shape.own_sender]);
  }

  /// Rounds of a sender that may be delivered.
  [[nodiscard]] std::uint64_t stable(SenderIndex sender) const { return state_.stable[sender]; }

  /// What a sender has sent in this view, as far as it is known here.
  [[nodiscard]] const SentState& sent_by(SenderIndex sender) const { return state_.sent[sender]; }

  /// Every sender finished and every member has delivered everything.
  [[nodiscard]] bool complete() const { return complete_; }

  /// True if `member` has said that it delivered everything there will be.
  [[nodiscard]] bool complete_at(Rank member) const {
    return state_.blocks.count(member, ControlWords::kDelivered) >= kDeliveredAll;
  }

  /// How far members have come in the order.
  [[nodiscard]] const GroupOrder<Memory>& order() const { return *order_; }
  /// Space of ours waits for `member`, and for no other one longer.
  [[nodiscard]] bool holds_space(Rank member) const;

  [[nodiscard]] const std::optional<Violation>& violation() const { return state_.violation; }
  [[nodiscard]] bool finished() const { return state_.own_sent.finished; }

 private:
  void meet();
  bool send(Outbox& out);
  void take(const SendRing::Batch& batch, std::uint64_t round, Outbox& out);
  void tell_end();
  bool release();
  [[nodiscard]] bool complete_everywhere() const;

  ViewState<Memory> state_;
  const std::unique_ptr<Stability<Memory>> stability_;
  const std::unique_ptr<GroupOrder<Memory>> order_;
  const std::unique_ptr<Dissemination<Memory>> dissemination_;
  SendRing* const ring_;
  OwnSpace<Memory> space_;
  PassOn<Memory> pass_on_;
  ViewEnd end_;                      // once the cut is applied
  std::uint64_t persisted_ = 0;      // as said
  std::vector<std::uint64_t> said_;  // by rank: scratch of durable_end()
  bool nulls_since_record_ = false;
  bool complete_ = false;
  MulticastCounters& counters_;
};

}  // namespace tutti
