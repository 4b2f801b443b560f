/// \file view_state.hpp
/// What one member knows and says in one view of its group. The parts of the multicast work on it:
/// the order, the stability rule, passing on.
///
/// Invariant I1: received[s] is raised only over rounds whose records are in our memory (guard
/// before data).
/// Threads: the predicate thread.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "multicast/bounds.hpp"
#include "multicast/ring_cursor.hpp"
#include "multicast/shape.hpp"
#include "multicast/violation.hpp"
#include "sst/control_blocks.hpp"
#include "sst/sent_word.hpp"

namespace tutti {

/// The delivered word of a member that has delivered everything there will be.
inline constexpr std::uint64_t kDeliveredAll = kNoRound;

template <class Memory>
struct ViewState {
  ViewState(const GroupShape& of_view, Memory of_table, Bounds& to_delivery)
      : shape(of_view),
        memory(of_table),
        blocks(shape.view, shape.self, shape.own_control, shape.member_controls, of_table),
        bounds(to_delivery),
        sent(shape.senders()),
        received(shape.senders()),
        stable(shape.senders()),
        base(shape.senders()),
        met(shape.senders()),
        unmet(shape.senders()) {}

  ViewState(const ViewState&) = delete;  // blocks refers to shape
  ViewState& operator=(const ViewState&) = delete;

  /// Tells delivery how far it may go with that sender.
  void set_bounds(SenderIndex sender) {
    std::uint64_t known = sent[sender].known_rounds();
    if (is_numbered()) known = std::max(known, stable[sender]);  // a number is one sender's
    TUTTI_ASSERT(stable[sender] <= known, stable[sender], known, sender, shape.view, shape.self);
    bounds.set(sender, {.records = sent[sender].records,
                        .known = known,
                        .stable = stable[sender],
                        .base = base[sender]});
  }

  /// The view ends: of the sender so many records come before the cut, and so many rounds.
  void set_end(SenderIndex sender, std::uint64_t records, std::uint64_t rounds) {
    TUTTI_ASSERT(records <= sent[sender].records, records, sent[sender].records, sender, shape.view,
                 shape.self);
    bounds.set(sender,
               {.records = records, .known = rounds, .stable = rounds, .base = base[sender]});
  }

  /// One sequence of numbers is given to the messages of all senders: the round of a record is its
  /// number, and the sender's only.
  [[nodiscard]] bool is_numbered() const { return shape.order == Order::token_ring; }
  /// Records go from member to member (Chain).
  [[nodiscard]] bool is_chain() const { return shape.order == Order::lcr; }
  /// Rounds of that sender that are here, with all that comes before them.
  [[nodiscard]] std::uint64_t received_of(SenderIndex sender) const {
    return is_numbered() ? here : sent[sender].known_rounds();
  }

  /// The sender's ring holds what is no record. Y5: where rows are shared, its owner may be in a
  /// later view by now, and then it may.
  void refuse_record(SenderIndex sender) {
    std::atomic_thread_fence(std::memory_order_acquire);
    const Rank rank = shape.sender_ranks[sender];
    if (blocks.in_view(rank)) violation = {rank, kImpossibleRecord};
  }

  /// Says a word of our own that changes again and again. Along a chain it waits for the next post:
  /// the member behind us goes by words of the chain, and the others need this one only later.
  void say_running(ControlWords::Word word, std::uint64_t value) {
    if (is_chain()) {
      blocks.note(word, value);
    } else {
      blocks.say(word, value);
    }
  }

  /// Delivery has come to this position.
  void set_delivered(std::uint64_t position) {
    if (position == delivered) return;
    TUTTI_ASSERT(position > delivered, position, delivered, shape.view, shape.self);  // S1
    delivered = position;
    // Release: our reads of the delivered records are done; pairs with the sender's load (I4).
    if (is_chain() && position >= kDeliveredAll) {
      owes_end_mark = true;
    } else {
      say_running(ControlWords::kDelivered, position);
    }
  }

  /// Rounds of the sender that the member says it has received.
  [[nodiscard]] std::uint64_t received_by(Rank member, SenderIndex sender) const {
    return member == shape.self ? received[sender]
                                : blocks.count(member, ControlWords::kReceived[sender]);
  }
  /// The member says that it has all senders' rows (I7).
  [[nodiscard]] bool has_met_all(Rank member) const {
    return (blocks.count(member, ControlWords::kBase) & ControlWords::kMetAll) != 0;
  }

  /// A walk over the sender's records from where delivery is.
  [[nodiscard]] std::optional<RingWalk<Memory>> walk_from(SenderIndex sender,
                                                          RingCursor from) const {
    TUTTI_ASSERT(from.records <= sent[sender].records, from.records, sent[sender].records, sender,
                 shape.view, shape.self);
    if (from.records == 0) from.offset = base[sender];
    return std::optional<RingWalk<Memory>>(std::in_place, memory, extent_of(sender), from,
                                           shape.view);
  }
  [[nodiscard]] RingExtent extent_of(SenderIndex sender) const {
    return {shape.sender_rings[sender], shape.ring_granules, shape.message_max_bytes};
  }

  const GroupShape shape;
  Memory memory;
  ControlBlocks<Memory> blocks;
  Bounds& bounds;
  IndexedBy<SenderIndex, SentState> sent;          ///< as far as we have taken it
  IndexedBy<SenderIndex, std::uint64_t> received;  ///< rounds, as published (I1)
  IndexedBy<SenderIndex, std::uint64_t> stable;    ///< rounds that may be delivered
  IndexedBy<SenderIndex, std::uint32_t> base;      ///< granule where its first record is
  IndexedBy<SenderIndex, bool> met;                ///< base is known
  std::size_t unmet;                               ///< of how many it is not
  SentState own_sent;                              ///< as published, of this member
  std::uint64_t delivered = 0;                     ///< as published: position
  std::uint64_t here = 0;  ///< is_numbered(): the records of all numbers below it are
  std::uint64_t safe = 0;  ///< likewise: every member has those of all below it
  bool wedged = false;
  /// Everything is delivered here, and the others are not told yet: who has told it may end, and is
  /// waited for no more (P2).
  bool owes_end_mark = false;
  bool overtaken = false;  ///< the others went on without us while a cut was applied (Y5)
  std::optional<Violation> violation{};
};

}  // namespace tutti
