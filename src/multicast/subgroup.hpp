/// \file subgroup.hpp
/// One group on a node's predicate loop: its ring, which lasts, and the predicates and the delivery
/// of its views, put together.
///
/// The protocol is in the newest view. The application may be behind: views that it has not been
/// delivered all of are kept, oldest first, each with its bounds fixed by its cut (end()).
/// Invariants:
///  Z1  Deliveries follow the order of views: only the oldest view kept is delivered in. It goes
///      once all before its cut was delivered: the callback returned, or the batch was released.
///  Z2  Nothing is delivered in a view before allow() named it, or a later one.
///  Z3  The bounds of a view's end are set while no thread reads them (N2).
///  Z4  Numbers go on over views: those of the group's order by the cut, those of each sender, at
///      Level::unordered, by what was delivered here.
/// Threads: step(), deliver() and what changes the view the predicate thread; deliver_here() the
/// group's own delivery thread if it has one; take_here() and release_here() the application's, one
/// at a time; ring() and the getters any. In the middle of a callback that deliver() makes, another
/// thread may take over the predicate thread's part, deliver() excepted: its view stays (Z1).
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "multicast/bounds.hpp"
#include "multicast/cut.hpp"
#include "multicast/delivery_pause.hpp"
#include "multicast/follower.hpp"
#include "multicast/group_posts.hpp"
#include "multicast/lag.hpp"
#include "multicast/log_follower.hpp"
#include "multicast/multicast.hpp"
#include "multicast/shape.hpp"
#include "predicates/predicate_loop.hpp"
#include "smc/send_ring.hpp"
#include "sst/memory.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

template <class Memory>
class Subgroup final : public Stepped {
 public:
  /// In its first view, whose shape is given; one without members stands for none yet. `clock` is
  /// that of durations in its statistics, `log` of a group that is logged and delivered here.
  Subgroup(const GroupShape& shape, GroupInRow in_row, DeliveryCallback callback,
           Memory memory = {}, std::uint64_t (*clock)() = nullptr, LogSink* log = nullptr);
  ~Subgroup() override;

  bool step(Effects& effects) override;
  bool deliver() override;
  /// One turn of the group's own delivery thread. True if anything was delivered.
  bool deliver_here();
  /// In place of it, where the application takes: lends the next batch, of at most `max`.
  /// release_here() comes before the next take_here().
  [[nodiscard]] Taken take_here(std::size_t max);
  bool release_here();
  [[nodiscard]] DeliveryPause& pause() { return pause_; }  ///< whoever delivers
  /// The view of the batch that is lent.
  [[nodiscard]] std::uint64_t lent_view() const { return lender_->shape.view; }
  /// On the predicate thread: there may be more to deliver than when its thread last looked (N3).
  [[nodiscard]] bool may_have_more() const {
    const InView& view = *views_.front();
    return view.bounds.is_open() && view.bounds.moves() != view.follower->looked_at();
  }

  /// Null if this member is not a sender.
  [[nodiscard]] SendRing* ring() { return ring_ ? &*ring_ : nullptr; }
  [[nodiscard]] bool is_sender() const { return ring_.has_value(); }
  /// Ends the group for good: nothing is stepped or delivered from now on.
  void halt();
  /// The application sends and is handed nothing more, for good; the group goes on. Any thread.
  void mute();
  /// On the predicate thread: true once no other thread reads others' rows, but one with a loan.
  [[nodiscard]] bool at_rest();
  [[nodiscard]] bool at_rest_but_for_a_loan();
  /// Views that are kept (Z1): 1, once everything before the newest was delivered here.
  [[nodiscard]] std::size_t views_kept() const { return views_.size(); }
  /// Messages of that view, and of those before it, may be delivered. Before the first call those
  /// of every view may; allow(0) before the first view makes each wait to be named.
  void allow(std::uint64_t view);
  /// Everything before that view was delivered here.
  [[nodiscard]] bool delivered_before(std::uint64_t view) const {
    return views_.front()->shape.view >= view;
  }
  /// The state that this member joined for has yet to come: it has nothing to deliver if it leaves.
  void set_lacks_state(bool lacks) { lacks_state_ = lacks; }
  [[nodiscard]] bool lacks_state() const { return lacks_state_; }
  /// The number of the view's first message: older members tell joiners, and these each other.
  [[nodiscard]] bool knows_first_seq() const {
    return now_->started() || now_->multicast.first_seq().has_value();
  }
  [[nodiscard]] std::optional<std::uint64_t> first_new() const;  ///< that of the first view kept
  /// A majority of the members has on disk what comes before this view; or it is not logged.
  [[nodiscard]] bool is_on_disks() const {
    return !now_->shape.logged || (now_->started() && now_->multicast.is_on_disks());
  }
  /// While held, no space of our ring is used again.
  void hold_space(bool held) { now_->multicast.hold_space(held); }
  void wedge();  // how a view ends, in this order; see Multicast
  [[nodiscard]] bool settled(const IndexedBy<Rank, bool>& suspected) const {
    return now_->multicast.settled(suspected);
  }
  /// After wedge(), until the view's end is decided: tells the others what they need for a cut.
  /// True if it has posted anything.
  bool tell_wedged(const IndexedBy<Rank, bool>& suspected, Effects& effects);
  /// At agreed, after wedge(), until the view's end is decided. True if it has posted anything.
  bool pass_on(const IndexedBy<Rank, bool>& suspected, bool all_wedged, Effects& effects);
  [[nodiscard]] std::optional<Cut> find_cut(const IndexedBy<Rank, bool>& goes_on) {
    return now_->multicast.find_cut(goes_on, *now_->follower);
  }
  /// These words are a cut that a correct leader can make of the newest view.
  [[nodiscard]] bool is_sensible(const Cut& cut) const { return now_->multicast.is_sensible(cut); }
  /// Fixes what is delivered in this view, which may go on after it. False: not possible yet, to be
  /// called again. True: enter() may follow, or, for one that leaves, the wait for delivered_all().
  [[nodiscard]] bool end(const Cut& cut);
  /// After end(), of a member that leaves: it has delivered everything up to the cut, or what was
  /// durable when the view ended, and no thread is about to read more.
  [[nodiscard]] bool delivered_all();
  /// After delivered_all(): messages of earlier views wait for disks, of which no more is heard.
  [[nodiscard]] bool waits_in_vain() const { return gave_up_ && views_.size() > 1; }
  /// Nothing of earlier views is still to be delivered, and this one is allowed.
  [[nodiscard]] bool caught_up() const { return views_.size() == 1 && shape().view <= allowed_; }
  /// All that was delivered here is in the log, if there is one.
  [[nodiscard]] bool logged_all() const;
  /// After end(): the number of the next view's first message.
  [[nodiscard]] std::uint64_t next_seq() const;
  /// Our own records that come before it.
  [[nodiscard]] std::uint64_t own_records_before() const;
  /// Of our own records, those delivered here. Any thread.
  [[nodiscard]] std::uint64_t own_records_delivered() const {
    return totals_.own_records.load(std::memory_order_acquire);
  }

  /// This member is to put ticks into the sequence (TI1).
  [[nodiscard]] bool may_tick() const;
  /// The time of the last tick that was delivered here, or is about to be; 0 before the first.
  [[nodiscard]] std::uint64_t last_tick_ns() const {
    return totals_.last_tick_ns.load(std::memory_order_relaxed);
  }

  /// Starts the next view. Own records that come after the last one's cut are sent again, in order.
  /// Returns the granule where our ring starts in it, 0 if we are no sender.
  std::uint32_t enter(const GroupShape& shape, GroupInRow in_row);

  /// Once the view's end is decided: the others went on without us (Follower, Y5), and nothing more
  /// will be delivered.
  [[nodiscard]] bool stale() const {
    return views_.front()->is_stale() || now_->is_stale() || now_->multicast.overtaken() ||
           (!now_->started() && now_->multicast.alone());
  }
  /// What the application was handed last is still what was sent.
  [[nodiscard]] bool in_place() const {
    return oldest_.load(std::memory_order_acquire)->follower->in_place();
  }
  [[nodiscard]] bool complete() const { return complete_.load(std::memory_order_acquire); }
  /// `member` has said that it delivered everything there will be.
  [[nodiscard]] bool complete_at(Rank member) const { return now_->multicast.complete_at(member); }
  /// Now and then, before lag(): notes how far we are. True: the next step tells all.
  bool note_course(std::uint64_t now_ns);
  /// How far `member` is behind us; how far we are, if it is ourselves. On the predicate thread.
  [[nodiscard]] Lag lag(Rank member) const;
  /// Where `member` is: it grows in a view whenever that one delivers.
  [[nodiscard]] std::uint64_t position_of(Rank member) const {
    return now_->multicast.order().position_of(member);
  }
  /// In the newest view: rounds of a sender that may be delivered, but for the cut (I2).
  [[nodiscard]] std::uint64_t stable(SenderIndex sender) const {
    return now_->multicast.stable(sender);
  }
  /// Likewise: how far that member's log is on disk.
  [[nodiscard]] std::uint64_t persisted_of(Rank m) const { return now_->multicast.persisted_of(m); }
  /// Likewise: the position before which messages of Service::safe may be (Bounds::safe).
  [[nodiscard]] std::uint64_t safe() const { return now_->bounds.safe(); }
  /// We have no space, and wait for `member`.
  [[nodiscard]] bool holds_window(Rank member) const;
  /// Pieces that this member has passed on, in all views.
  [[nodiscard]] std::uint64_t pieces_passed() const {
    return pieces_before_ + now_->multicast.pieces_passed();
  }
  [[nodiscard]] std::optional<Violation> violation() const;  ///< what no correct member does
  [[nodiscard]] GroupStatistics statistics() const;
  [[nodiscard]] const GroupShape& shape() const { return now_->shape; }

 private:
  // What a pass delivers before the predicates are looked at again: acknowledgements keep flowing.
  static constexpr std::size_t kBatchesPerTurn = 4;

  // All that ends with a view, once it is delivered.
  struct InView {
    InView(Subgroup& group, const GroupShape& of_view, GroupInRow at);
    const GroupShape shape;
    const GroupInRow in_row;
    const GroupPosts posts;
    Bounds bounds;
    Multicast<Memory> multicast;
    std::unique_ptr<Follower<Memory>> follower;  // the application's
    std::unique_ptr<Follower<Memory>> logger;    // the log's; null without one
    std::uint64_t first_seq;                     // kUnknownSeq: not known yet
    bool wedged = false;
    std::optional<Cut> cut{};  // applied
    [[nodiscard]] bool started() const { return first_seq != kUnknownSeq; }
    [[nodiscard]] bool is_stale() const {
      return follower->stale() || (logger != nullptr && logger->stale());
    }
    // Delivery may run if the bounds are open: it is the oldest, allowed, started, not wedged.
  };

  [[nodiscard]] DeliveryCallback marked(DeliveryCallback callback);
  void start(InView& view);
  bool retire();
  bool open_oldest();
  bool follow_log();
  [[nodiscard]] bool pauses(const InView& view);
  void take_over_delivered();
  [[nodiscard]] bool is_at_cut(const InView& view) const;
  [[nodiscard]] bool waits_for_disk(const InView& view) const;

  Memory memory_;
  DeliveryCallback callback_;
  std::optional<SendRing> ring_;
  MulticastCounters counters_;
  DeliveryTotals totals_;
  LogFollower<Memory> log_;
  Counter pushes_;
  std::uint64_t pieces_before_ = 0;            // passed on in earlier views
  std::deque<std::unique_ptr<InView>> views_;  // oldest first
  InView* now_;                                // the newest
  std::uint64_t allowed_ = ~0ULL;
  bool lacks_state_ = false;
  bool gave_up_ = false;  // see delivered_all()
  LagHistory course_;     // of this view
  std::uint64_t noted_ns_ = 0;
  std::uint64_t not_behind_ns_ = 0;  // when we last were not, or got on
  std::uint64_t noted_position_ = 0;
  std::atomic<bool> complete_{false};
  // The oldest view, for callbacks; for who delivers `open_`: null while it must not begin.
  std::atomic<InView*> oldest_{nullptr};
  std::atomic<InView*> open_{nullptr};
  // What the thread that delivers does. In a callback, or while a batch is lent, it reads messages,
  // but no bounds and no headers. deliver() is always calling: whoever asks has the loop from it.
  enum class Busy : std::uint8_t { no, reading, calling, lent };
  std::atomic<Busy> busy_{Busy::no};
  DeliveryPause pause_;
  InView* lender_ = nullptr;  // whose batch is lent; Z1: it stays
};

}  // namespace tutti
