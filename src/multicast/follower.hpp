/// \file follower.hpp
/// Follows the sequence of a view: walks the senders' rings in delivery order and hands messages on
/// in batches, in place. Which message is next says the follower of the order: fill().
///
/// Invariants:
///  Y1  The sequence is a function of the rings and the order alone, without the nulls.
///      How far it goes is the bounds' business, so all members deliver prefixes of one sequence.
///  Y2  A position is passed only if its content is known: a record that is stable, or a null. One
///      of Service::safe is passed only if all members have it, or at the end of the view. At
///       Level::durable a message waits for Bounds::durable, and nulls do not.
///  Y3  position() moves only after the callback returned: space is not used again before that.
///  Y4  Headers come from another member: checked before use; one that is impossible ends the
///      delivery with corrupt(), nothing is read outside the ring.
///  Y5  Where rows are shared, a member without which the others went on may find rings used again,
///      or headers changed. A batch is handed over, or a header called impossible, only if nothing
///      of the kind had begun after the reading; else the delivery is stale() and ends. While the
///      view has no end yet, the owner's epoch tells: it is taken away before either. Up to the
///      view's end, which may be behind several views, `reclaimed` does: no header before the end
///      changes, and space of a view k is used again only in a view v > k of which `reclaimed` was
///      told first.
/// Threads: run(), or take() and release(), one at a time (the predicate thread, the group's own,
/// or the application's); the getters any. Source: [Spindle, 2.1 (rounds), 3.1 (in place), 3.2
/// (batches)].
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/counter.hpp"
#include "multicast/bounds.hpp"
#include "multicast/ring_cursor.hpp"
#include "multicast/shape.hpp"
#include "smc/record.hpp"
#include "sst/sent_word.hpp"
#include "tutti/message.hpp"

namespace tutti {

/// Payload bytes after which a batch is handed over although it has room for more messages.
inline constexpr std::size_t kDeliveryBatchBytes = 64 * 1024;

struct DeliveryCounters {
  Counter messages, bytes;
  BatchCounter batches;
};

/// What outlives the view.
struct DeliveryTotals {
  DeliveryCounters counters;
  /// The time of the last tick that was walked over, to be delivered.
  std::atomic<std::uint64_t> last_tick_ns{0};
  /// Own records delivered so far: a Ticket is delivered once this reaches it.
  std::atomic<std::uint64_t> own_records{0};
  /// The group has ended: nothing more is handed over, and what is being handed over does not
  /// count as delivered, for the callback may have failed.
  std::atomic<bool> halted{false};
  /// The node is about to stop: nothing more is handed over, but what is being handed over counts.
  std::atomic<bool> muted{false};

  /// Acquire: pairs with the stores of both.
  [[nodiscard]] bool ended() const {
    return halted.load(std::memory_order_acquire) || muted.load(std::memory_order_acquire);
  }
};

/// What Follower::take found.
struct Taken {
  std::span<const Message> messages;  ///< empty: nothing may be delivered now
  bool moved = false;                 ///< delivery went on past nulls
};

template <class Memory>
class Follower {
 public:
  Follower(const GroupShape& shape, Memory memory, const Bounds& bounds, DeliveryCallback callback,
           DeliveryTotals& totals);
  virtual ~Follower() = default;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Delivers what the bounds allow, at most about `max_batches` batches. True if anything moved.
  bool run(std::size_t max_batches);

  /// Lends the next batch, of at most `max` messages, to an application that has no callback. It
  /// stays in place until release(), which comes before the next take().
  [[nodiscard]] Taken take(std::size_t max);
  /// The batch lent last counts as delivered (Y3). True if anything moved.
  bool release();
  /// Bounds::moves() when the last run() or take() began.
  [[nodiscard]] std::uint64_t looked_at() const {
    return looked_at_.load(std::memory_order_relaxed);
  }

  /// The position of the next message where the order is total, else 0; kDeliveredAll at the end.
  [[nodiscard]] std::uint64_t position() const { return position_.load(std::memory_order_acquire); }
  /// Where senders are not ordered among each other: rounds of that sender delivered.
  [[nodiscard]] std::uint64_t consumed(SenderIndex sender) const {
    return consumed_[sender].load(std::memory_order_acquire);
  }
  /// Where delivery is in a sender's ring; nothing while it moves.
  [[nodiscard]] std::optional<RingCursor> cursor(SenderIndex sender) const {
    return told_cursors_[sender].load();
  }
  /// The number of the next message. For the thread that is in run(), or take(), between two.
  [[nodiscard]] std::uint64_t next_seq() const { return seq_; }
  /// For a log: it takes what is not durable yet. Before the first run().
  void wait_for_no_disk() { waits_ = false; }
  /// For a joiner, before the first run().
  void start_at(std::uint64_t seq) {
    TUTTI_ASSERT(seq_ == kUnknownSeq && position() == 0, seq_, position(), shape_.view);
    seq_ = seq;
  }
  /// Before the first run(): messages are numbered on from those of the view before.
  virtual void number_on(const Follower& /*before*/, const GroupShape& /*of_view*/) {}
  /// A sender whose ring holds nonsense, kNobody if none.
  [[nodiscard]] Rank corrupt() const { return corrupt_.load(std::memory_order_acquire); }
  /// The others went on without us, and their rings with them (Y5).
  [[nodiscard]] bool stale() const { return stale_.load(std::memory_order_acquire); }
  /// True if the messages handed over last are still what was sent: their space was not used
  /// again. For the thread that is in run().
  [[nodiscard]] bool in_place() const;

 protected:
  static constexpr std::uint64_t kUntold = ~0ULL;

  // Where we are in one sender's ring: `round` is that of the record at `offset`, kNoRound if all
  // records that the bounds tell of are done.
  struct Cursor {
    const std::byte* ring = nullptr;
    std::uint32_t offset = 0;  // in granules
    std::uint32_t granules = 1;
    std::uint32_t length = 0;
    bool abandoned = false;
    bool safe = false;     // a message of Service::safe (R5)
    bool tick = false;     // R6
    bool entered = false;  // offset is set
    std::uint64_t round = kNoRound;
    std::uint64_t next_round = 0;    // that of the next record unless it is stamped
    std::uint64_t records = 0;       // passed so far
    std::uint64_t delivered = 0;     // of them, not abandoned
    std::uint64_t told = kUntold;    // records when that was last told
    std::uint64_t first_ticket = 0;  // 0, and none per record, of another member's messages
    std::uint64_t tickets_per_record = 0;
    SenderBounds bounds;
  };

  // The batch being filled.
  struct Filling {
    Message* next;
    Message* end;
    std::uint64_t seq;
    std::uint64_t limit;  // messages from this number on wait (Bounds::durable)
    std::size_t bytes = 0;
    [[nodiscard]] bool full() const { return next == end || bytes >= kDeliveryBatchBytes; }
    [[nodiscard]] std::uint64_t room() const {
      return std::min(static_cast<std::uint64_t>(end - next), limit - std::min(seq, limit));
    }
  };

  /// Puts what is next into the batch until that is full, or nothing more may be delivered (Y2).
  virtual void fill(Filling& filling) = 0;
  /// What position() is to say now, unless all is delivered.
  [[nodiscard]] virtual std::uint64_t position_here() const = 0;
  /// The follower publishes how far it has come with one sender, where position() does not tell.
  /// True if that has moved.
  virtual bool publish_consumed(SenderIndex /*sender*/, bool /*done*/) { return false; }

  // follower_walk.hpp
  void peek(Cursor& cursor);
  void pass(SenderIndex sender, std::uint64_t seq, Filling& filling);
  void peek_rare(Cursor& cursor, RecordHeader header);
  std::uint64_t lay_out(SenderIndex sender, const Filling& filling, std::uint32_t first,
                        std::uint32_t stride, std::uint64_t count);
  void skip(Cursor& cursor, std::uint64_t records);
  [[nodiscard]] static Ticket ticket_at(const Cursor& cursor);
  [[nodiscard]] std::uint64_t records_before_wrap(const Cursor& cursor) const;
  void refuse(Cursor& cursor);
  [[nodiscard]] bool has_time(const Cursor& cursor) const;
  void note_tick(const Cursor& cursor);
  bool raise(std::atomic<std::uint64_t>& cell, std::uint64_t value);

  const GroupShape shape_;
  mutable Memory memory_;
  IndexedBy<SenderIndex, Cursor> cursors_;
  std::uint64_t round_ = 0;  // of the position, where there is one
  SenderIndex sender_{};     // likewise
  std::uint64_t safe_ = 0;   // messages of Service::safe must be before this position
  IndexedBy<SenderIndex, std::atomic<std::uint64_t>> consumed_;

 private:
  [[nodiscard]] bool goes_on() const;
  void refresh();
  [[nodiscard]] Filling fill_up_to(std::size_t max);
  [[nodiscard]] std::size_t messages_of(const Filling& filling) const;
  [[nodiscard]] bool as_sent() const;
  [[nodiscard]] bool may_hand_over();
  bool hand_over(const Filling& filling);
  bool count_delivered(const Filling& filling);
  bool publish();
  void tell_cursor(SenderIndex sender);

  const Bounds& bounds_;
  DeliveryCallback callback_;
  DeliveryTotals& totals_;
  std::uint64_t seq_ = 0;
  std::uint64_t limit_ = ~0ULL;  // Filling::limit
  bool waits_ = true;            // for Bounds::durable
  bool final_ = false;           // the bounds are those of the view's end
  std::array<Message, kDeliveryBatchMax> batch_;
  std::optional<Filling> lent_;
  std::atomic<std::uint64_t> looked_at_{0};

  std::atomic<std::uint64_t> position_{0};
  std::atomic<Rank> corrupt_{kNobody};
  std::atomic<bool> stale_{false};
  IndexedBy<SenderIndex, RingCursorCell> told_cursors_;
};

/// The follower that delivers by the group's order, see order.hpp.
template <class Memory>
[[nodiscard]] std::unique_ptr<Follower<Memory>> make_follower(const GroupShape& shape,
                                                              Memory memory, const Bounds& bounds,
                                                              DeliveryCallback callback,
                                                              DeliveryTotals& totals);

}  // namespace tutti
