/// \file multicast.hpp
/// The predicates of one group: receive, send, stability. What they find is written to our own
/// control words and to the delivery bounds; what must be pushed goes into the outbox.
///
/// Order round_robin: round k holds one message of each sender, in sender order; a sender with
/// nothing to say gives its round up with a null [Spindle, 2.1, 3.3].
/// Invariants:
///  I1  received[s] is raised only over rounds whose records are in our memory (guard before data).
///  I2  A record of round k is stable once every member's received[s] > k; then, at Level::atomic,
///      it may be delivered. Nulls have no content and need no stability: knowing them is enough,
///      because what a sender said about a round never changes.
///  I3  Nulls: our rounds reach those of any sender we have received from, up to the place where
///      our message would precede its newest one; never beyond. So nulls answer messages, a null is
///      never answered by a later null, and a silent group is silent (quiescence).
///  I4  Our space is released only once every member has delivered it; that of records of earlier
///      views once every member of this one has delivered all of those (kDrained).
///  I5  Wedged, a member says nothing more in this view at atomic: its words stay as they are, so
///      that a cut made from them is one that nobody delivers beyond.
///  I6  Words of a member count only while its block is that of this view (L3).
///  I7  At agreed nothing is delivered before every member has said that it has all senders' rows
///      (kMetAll), which it keeps as long as it is in the view: then whatever one has received of
///      a member that is lost, the others can receive as well. Wedged, nobody begins to say so.
///  I8  At agreed, before a cut is found, the members that go on make each other's receipts of a
///      lost sender equal: the one that has most, the lowest of those, passes on what others lack.
///      Nothing else is taken of a sender once it is suspected: it may live, and send for ever.
/// Threads: the predicate thread; finish() any. Source: [Spindle, 2.4, 3.2, 3.3].
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "flow/round_map.hpp"
#include "multicast/bounds.hpp"
#include "multicast/counters.hpp"
#include "multicast/cut.hpp"
#include "multicast/delivery.hpp"
#include "multicast/outbox.hpp"
#include "multicast/pass_on.hpp"
#include "multicast/shape.hpp"
#include "multicast/violation.hpp"
#include "smc/send_ring.hpp"
#include "sst/row_layout.hpp"
#include "sst/sent_word.hpp"

namespace tutti {

/// Ring bytes that one send predicate takes at most: more wait for the next pass, so that peers can
/// work on the first part meanwhile.
inline constexpr std::uint32_t kSendBatchBytes = 256 * 1024;

/// The delivered word of a member that has delivered everything there will be.
inline constexpr std::uint64_t kDeliveredAll = kNoRound;

template <class Memory>
class Multicast {
 public:
  Multicast(const GroupShape& shape, Memory memory, SendRing* own_ring, Bounds& bounds,
            MulticastCounters& counters);

  /// One pass over the predicates. True if anything advanced.
  bool step(Outbox& out);

  /// Tells how far delivery has come: the position (round, sender) of the next undelivered message
  /// as round * senders + sender, or per sender for Level::unordered. The driver calls one of them
  /// before step(); it is published with the next push.
  void set_delivered(std::uint64_t position);
  void set_consumed(std::size_t sender, std::uint64_t rounds);

  /// Number of the view's first message, from any member that says it. Nothing: not known yet.
  [[nodiscard]] std::optional<std::uint64_t> first_seq() const;
  /// Says it to others that joined as well: all that told it may be lost before they hear of it.
  void tell_first_seq(std::uint64_t seq);

  /// No other member is in this view, or none any more.
  [[nodiscard]] bool alone() const;

  /// While held, nothing that earlier views delivered is released, nor what came after it.
  void hold_space(bool held) {
    TUTTI_ASSERT(!held || !all_drained_, shape_.view, shape_.self);
    space_held_ = held;
  }

  /// Tells the others that this member has delivered all of the views before this one (I4).
  void set_drained();
  [[nodiscard]] bool drained() const { return drained_; }

  /// The view ends: nothing more is sent in it, nor at atomic received (I5).
  void wedge() { wedged_ = true; }

  /// True once nothing that members not suspected sent in this view is still to come: at once at
  /// atomic, which does not ask for it. `suspected` by rank in the group. To be asked when the
  /// others have wedged.
  [[nodiscard]] bool settled(const std::vector<bool>& suspected) const;

  /// I8, at agreed: takes what others pass on of suspected senders, and passes on, once all others
  /// have wedged. To be called again and again while this member is wedged.
  void pass_on(const std::vector<bool>& suspected, bool all_wedged,
               const Delivery<Memory>& delivery);
  /// What it has to post, to those that are not suspected.
  [[nodiscard]] typename PassOn<Memory>::Posts take_passed() { return passing_.take_posts(); }
  [[nodiscard]] std::uint64_t pieces_passed() const { return passing_.passed(); }

  /// The cut for the members that go on, from the words of those, once they have wedged and
  /// settled. Nothing while one of them still lacks what another may have delivered, or while our
  /// own delivery moves; and nothing for good where a sender's words or records cannot be
  /// (violation()).
  [[nodiscard]] std::optional<Cut> find_cut(const std::vector<bool>& goes_on,
                                            const Delivery<Memory>& delivery);

  /// Lets delivery go up to the cut, and no further: tells it which records come before. The bounds
  /// are closed, and nobody reads them (N2). False: to be tried again, delivery moves just now or
  /// what it reads is not what was sent (overtaken()).
  [[nodiscard]] bool apply_cut(const Cut& cut, const Delivery<Memory>& delivery);
  /// The others went on without us while the cut was applied (Y5).
  [[nodiscard]] bool overtaken() const { return overtaken_; }

  // Once the cut is applied: where the next view starts.
  /// The number of its first message. Undefined at unordered.
  [[nodiscard]] std::uint64_t next_seq() const { return next_seq_; }
  /// Our own records that come before it, of all views.
  [[nodiscard]] std::uint64_t own_records_before_cut() const {
    return shape_.own_base_records + (shape_.own_sender == kNobody ? 0 : ends_[shape_.own_sender]);
  }

  /// True if delivery has reached the cut that was applied.
  [[nodiscard]] bool at_cut(const Cut& cut, const Delivery<Memory>& delivery) const;

  /// Rounds of a sender that may be delivered (I2).
  [[nodiscard]] std::uint64_t stable(std::size_t sender) const { return stable_[sender]; }

  /// Every sender finished and every member has delivered everything.
  [[nodiscard]] bool complete() const { return complete_; }

  /// True if `member` has said that it delivered everything there will be.
  [[nodiscard]] bool complete_at(std::uint32_t member) const;

  /// How far `member` has come, in what grows alike at all: the position of its delivery, or at
  /// Level::unordered what it has delivered of our own records.
  [[nodiscard]] std::uint64_t place_of(std::uint32_t member) const {
    if (shape_.level == Level::unordered) {
      return shape_.own_sender == kNobody ? 0 : received_by(member, shape_.own_sender);
    }
    return member == shape_.self ? delivered_ : count(member, kDeliveredOffset);
  }
  /// Where we are, as members are compared with it.
  [[nodiscard]] std::uint64_t own_place() const {
    return shape_.level == Level::unordered ? own_sent_.rounds : delivered_;
  }
  /// Rounds of all senders that we know and have not delivered.
  [[nodiscard]] std::uint64_t undelivered() const;
  /// Space of ours waits for `member`, and for no other one longer.
  [[nodiscard]] bool holds_space(std::uint32_t member) const;

  [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }
  [[nodiscard]] bool finished() const { return own_sent_.finished; }

 private:
  void meet();
  bool start();
  [[nodiscard]] bool has_met_all(std::uint32_t member) const {
    return (count(member, kBaseOffset) & kMetAll) != 0;
  }
  bool receive();
  bool send(Outbox& out);
  std::uint64_t rounds_owed() const;
  void publish_received();
  bool find_stable();
  bool release();
  bool find_all_drained();
  [[nodiscard]] bool complete_everywhere() const;
  [[nodiscard]] std::uint64_t own_rounds_before(std::uint64_t place) const;
  [[nodiscard]] std::uint64_t load(std::uint32_t member, std::size_t offset) const {
    return memory_.load(shape_.member_controls[member] + offset);
  }
  // L3: words are of this view if this held once before they were read, and holds after them.
  [[nodiscard]] bool in_view(std::uint32_t member) const {
    return load(member, kEpochOffset) == shape_.view;
  }
  [[nodiscard]] bool has_entered(std::uint32_t member) const {
    return unentered_ == 0 || look_whether_entered(member);
  }
  bool look_whether_entered(std::uint32_t member) const;
  [[nodiscard]] bool have_all_entered() const;
  [[nodiscard]] bool are_all_in_view() const;
  // A counter of a member, 0 unless its block is that of this view (I6).
  [[nodiscard]] std::uint64_t count(std::uint32_t member, std::size_t offset) const {
    if (!has_entered(member)) return 0;
    const std::uint64_t value = load(member, offset);
    return value != 0 && in_view(member) ? value : 0;
  }
  [[nodiscard]] std::uint64_t received_by(std::uint32_t member, std::uint32_t sender) const {
    return member == shape_.self ? received_[sender] : count(member, kReceivedOffset + 8 * sender);
  }
  void set_bounds(std::uint32_t sender);
  [[nodiscard]] std::optional<std::uint64_t> first_lacking(std::uint32_t sender, std::uint64_t from,
                                                           const Delivery<Memory>& delivery);
  [[nodiscard]] std::optional<RingWalk<Memory>> walk(std::uint32_t sender,
                                                     const Delivery<Memory>& delivery) const;
  [[nodiscard]] RingExtent extent_of(std::uint32_t sender) const {
    return {shape_.sender_rings[sender], shape_.ring_granules, shape_.message_max_bytes};
  }
  [[nodiscard]] bool find_ends(const Cut& cut, const Delivery<Memory>& delivery);
  [[nodiscard]] std::uint64_t place_in_order(std::uint64_t round, std::uint64_t sender) const;
  void keep_causes(const std::vector<bool>& goes_on, Cut& cut) const;
  [[nodiscard]] std::optional<RingPlace> end_of(std::uint32_t sender,
                                                const Delivery<Memory>& delivery);
  [[nodiscard]] bool take(const PassedPiece& piece, const Delivery<Memory>& delivery);
  void tell_reach(std::uint32_t sender, const Delivery<Memory>& delivery);
  [[nodiscard]] std::vector<std::uint32_t> lacking(std::uint32_t sender,
                                                   const std::vector<bool>& suspected) const;
  [[nodiscard]] bool pass(std::uint32_t sender, const Reach& from,
                          const Delivery<Memory>& delivery);

  const GroupShape shape_;
  mutable Memory memory_;
  SendRing* ring_;
  Bounds& bounds_;
  std::vector<SentState> sent_;          // by sender
  std::vector<std::uint64_t> received_;  // by sender: rounds, as published (I1)
  std::vector<std::uint64_t> stable_;    // by sender: rounds
  std::vector<std::uint64_t> least_;     // for find_stable(): by sender
  std::vector<std::uint64_t> ends_;      // by sender: records before the cut, once it is applied
  std::uint64_t next_seq_ = 0;           // likewise
  bool overtaken_ = false;
  SentState own_sent_;
  RoundMap round_map_;
  std::uint64_t delivered_ = 0;  // as published
  std::uint64_t released_rounds_ = 0;
  std::vector<std::uint32_t> base_;  // by sender: granule
  std::vector<bool> met_;            // by sender: base_ is known
  std::size_t unmet_ = 0;
  PassOn<Memory> passing_;
  std::vector<bool> ignored_;          // by sender (I8)
  mutable std::vector<bool> entered_;  // by member: its block was seen to be that of this view
  mutable std::uint32_t unentered_;    // of how many it was not
  bool drained_;                       // as published; nothing comes before view 0
  bool all_drained_ = false;           // every member
  bool space_held_ = false;
  bool started_;  // I7
  bool wedged_ = false;
  bool nulls_since_record_ = false;
  bool control_dirty_ = false;
  bool complete_ = false;
  std::optional<Violation> violation_;
  MulticastCounters& counters_;
};

}  // namespace tutti
