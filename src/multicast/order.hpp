/// \file order.hpp
/// The seam between the multicast and the order of its messages: whose message comes next, how far
/// members have come in that order, and where the sequence of a view ends.
///
///   round_robin  RoundRobin: round k holds one message of each sender, in sender order
///   none         Unordered: each sender by itself
///   token_ring   TokenRing (ring/token): by numbers that the holder of a token gives
///   lcr          Lcr (ring/lcr): as round_robin, told from member to member
///
/// A *position* tells how far a member has delivered. It only grows, positions of members compare,
/// and kDeliveredAll is the last one. What a position counts, and what the words of a cut mean, is
/// the order's business. Records of a sender are sent, received, released and passed on the same
/// way in every order (Multicast).
/// An order has a follower that delivers by it, see make_follower().
/// The functions that make an order, its rule of stability and its follower are in ring/orders.cpp,
/// which knows all of them.
/// Threads: the predicate thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "multicast/counters.hpp"
#include "multicast/cut.hpp"
#include "multicast/follower.hpp"
#include "multicast/ring_cursor.hpp"
#include "multicast/stability.hpp"
#include "multicast/view_state.hpp"
#include "smc/send_ring.hpp"

namespace tutti {

/// Ring bytes that one send predicate takes at most: more wait for the next pass, so that peers can
/// work on the first part meanwhile.
inline constexpr std::uint32_t kSendBatchBytes = 256 * 1024;

/// What this member, a sender, may send in a pass: so many records, the first of them in `round`,
/// which is not before the round behind its last record.
struct Turn {
  std::uint64_t round = 0;
  std::uint32_t records = std::numeric_limits<std::uint32_t>::max();
};

/// Where a sender's part of a view ends, and what comes before.
struct ViewEnd {
  IndexedBy<SenderIndex, std::uint64_t> records;  ///< those of the view that come before it
  std::uint64_t next_seq = 0;  ///< number of the next view's first message, if it has one
};

template <class Memory>
class GroupOrder {
 public:
  explicit GroupOrder(ViewState<Memory>& state) : state_(state) {}
  virtual ~GroupOrder() = default;
  GroupOrder(const GroupOrder&) = delete;
  GroupOrder& operator=(const GroupOrder&) = delete;

  // In a pass: for the group, or for each member or sender, and never for a message.
  /// Does what the order itself asks for, after records were received. `own`: our ring, null if we
  /// are no sender. True if anything moved.
  virtual bool step(const SendRing* /*own*/) { return false; }
  /// Asked for after step().
  [[nodiscard]] virtual Turn turn() const { return {.round = state_.own_sent.rounds}; }
  /// Of its own rounds this member, a sender, must have taken up so many, by nulls where it has no
  /// record.
  [[nodiscard]] virtual std::uint64_t rounds_owed() const = 0;
  /// Says what was received of each sender.
  virtual void publish_received() = 0;
  /// Says how many rounds of that sender were delivered here, if the order is not total.
  virtual void publish_consumed(SenderIndex /*sender*/, std::uint64_t /*rounds*/) {}

  // How far members have come.
  /// All members deliver one sequence, in which positions are. Else a position counts what a member
  /// has delivered of our own records.
  [[nodiscard]] virtual bool is_total() const = 0;
  [[nodiscard]] virtual std::uint64_t position_of(Rank member) const = 0;
  /// No member is before it, as far as this one knows.
  [[nodiscard]] virtual std::uint64_t least_position() const {
    std::uint64_t least = kDeliveredAll;
    for (const Rank m : state_.shape.ranks()) {
      least = std::min(least, position_of(m));
    }
    return least;
  }
  /// What others' positions are compared with, to tell how far they are behind.
  [[nodiscard]] virtual std::uint64_t own_position() const = 0;
  /// Of our own rounds, those that a member at this position has passed.
  [[nodiscard]] virtual std::uint64_t own_rounds_before(std::uint64_t position) const = 0;
  /// Rounds of all senders that we know and have not delivered.
  [[nodiscard]] virtual std::uint64_t undelivered() const = 0;

  /// Now and then: tells our position to all, if only some members hear of it otherwise. True if
  /// it is to be posted.
  virtual bool tell_position() { return false; }

  // How a view ends.
  /// This member is about to wedge.
  virtual void wedge() {}
  /// Says what others need for a cut, after wedge(), again and again until there is one. True if
  /// our words are to be posted to those that are not suspected.
  virtual bool tell_wedged(const IndexedBy<Rank, bool>& /*suspected*/,
                           const Follower<Memory>& /*follower*/) {
    return false;
  }
  /// A walk over the sender's records from where delivery is; nothing while delivery moves.
  [[nodiscard]] virtual std::optional<RingWalk<Memory>> walk(
      SenderIndex sender, const Follower<Memory>& follower) const {
    const std::optional<RingCursor> cursor = follower.cursor(sender);
    return cursor ? state_.walk_from(sender, *cursor) : std::nullopt;
  }
  /// The cut for the members that go on, from the words of those. Nothing while one of them still
  /// lacks what another may have delivered, or while our own delivery moves; and nothing for good
  /// where a sender's words or records cannot be (ViewState::violation).
  [[nodiscard]] virtual std::optional<Cut> find_cut(const IndexedBy<Rank, bool>& goes_on,
                                                    const Follower<Memory>& follower) = 0;
  /// Counts what comes before the cut, for a view whose first message has that number. Nothing: to
  /// be tried again, delivery moves just now or what it reads is not what was sent
  /// (ViewState::overtaken).
  [[nodiscard]] virtual std::optional<ViewEnd> count_cut(
      const Cut& cut, std::uint64_t first_seq, const Follower<Memory>& follower) const = 0;
  /// Sets the bounds, which are closed, to what count_cut() has found.
  virtual void set_end(const Cut& cut, const ViewEnd& end) = 0;
  /// Delivery has reached the cut that was applied.
  [[nodiscard]] virtual bool at_cut(const Cut& cut, const ViewEnd& end,
                                    const Follower<Memory>& follower) const = 0;
  /// The words say where in this view the cut is. Words of another member are input.
  [[nodiscard]] virtual bool is_sensible(const Cut& cut) const = 0;

 protected:
  ViewState<Memory>& state_;
};

template <class Memory>
[[nodiscard]] std::unique_ptr<GroupOrder<Memory>> make_order(ViewState<Memory>& state,
                                                             const Stability<Memory>& stability,
                                                             MulticastCounters& counters);

}  // namespace tutti
