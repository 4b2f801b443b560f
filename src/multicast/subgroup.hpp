/// \file subgroup.hpp
/// One group on a node's predicate loop: its ring, which lasts, and the predicates and the delivery
/// of the view it is in, put together.
///
/// Threads: step(), deliver() and what changes the view the predicate thread; deliver_here() the
/// group's own delivery thread if it has one; ring() and the getters any. In the middle of a
/// callback that deliver() makes, another thread may take over the predicate thread's part,
/// deliver() excepted: what the callback's thread goes on with is not touched while busy_.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "multicast/bounds.hpp"
#include "multicast/cut.hpp"
#include "multicast/delivery.hpp"
#include "multicast/lag.hpp"
#include "multicast/multicast.hpp"
#include "multicast/shape.hpp"
#include "predicates/predicate_loop.hpp"
#include "smc/send_ring.hpp"
#include "sst/memory.hpp"
#include "tutti/statistics.hpp"

namespace tutti {

/// Where the group is in our row, and who its other members are.
struct SubgroupPlace {
  std::uint64_t control_offset = 0;
  std::uint64_t ring_offset = 0;
  std::vector<Rank> peers;           ///< ranks in the node list, ours left out
  bool own_delivery_thread = false;  ///< deliver() leaves delivery to deliver_here()
};

template <class Memory>
class Subgroup final : public Stepped {
 public:
  /// In its first view, whose shape is given; one without members stands for none yet.
  Subgroup(const GroupShape& shape, SubgroupPlace place, DeliveryCallback callback,
           Memory memory = {});
  ~Subgroup() override;

  bool step(Fabric& fabric) override;
  bool deliver() override;

  /// One turn of the group's own delivery thread. True if anything was delivered.
  bool deliver_here();

  /// Null if this member is not a sender.
  [[nodiscard]] SendRing* ring() { return ring_ ? &*ring_ : nullptr; }

  /// Ends the group for good: nothing is stepped or delivered from now on.
  void halt();

  /// After halt(), on the predicate thread: true once no other thread reads the others' rows.
  [[nodiscard]] bool at_rest();

  /// While held, nothing is delivered in a view that was just entered: its state has yet to come.
  void hold(bool held) { held_ = held; }
  [[nodiscard]] bool held() const { return held_; }

  /// While held, no space of our ring is used again.
  void hold_space(bool held) { now_->multicast.hold_space(held); }

  // How a view ends, in this order; see Multicast.
  void wedge();
  [[nodiscard]] bool settled(const std::vector<bool>& suspected) const {
    return now_->multicast.settled(suspected);
  }
  [[nodiscard]] std::optional<Cut> find_cut(const std::vector<bool>& goes_on) const {
    return now_->multicast.find_cut(goes_on, now_->delivery);
  }
  void apply_cut(const Cut& cut);
  /// True once all before the cut is delivered and the delivery thread is not about to deliver
  /// more: then enter() may follow.
  [[nodiscard]] bool at_cut(const Cut& cut);

  /// Where the next view starts: the sequence number of its first message, and our own records
  /// delivered before it. To be asked at the cut.
  [[nodiscard]] std::uint64_t next_seq() const { return now_->delivery.next_seq(); }
  [[nodiscard]] std::uint64_t own_records_delivered() const {
    return totals_.own_records.load(std::memory_order_acquire);
  }

  /// Starts the next view. Own records that the last one did not deliver are sent again, in order.
  /// Returns the granule where our ring starts in it, 0 if we are no sender.
  std::uint32_t enter(const GroupShape& shape, SubgroupPlace place);

  /// Once the view's end is decided: the others went on without us (Delivery, Y5), and nothing more
  /// will be delivered.
  [[nodiscard]] bool stale() const {
    return now_->delivery.stale() || (!now_->started && now_->multicast.alone());
  }
  /// For delivery callbacks: what they were handed is still what was sent.
  [[nodiscard]] bool in_place() const { return now_->delivery.in_place(); }

  [[nodiscard]] bool complete() const { return complete_.load(std::memory_order_acquire); }
  /// `member` (rank in the group) has told us that it delivered everything there will be.
  [[nodiscard]] bool complete_at(std::uint32_t member) const {
    return now_->multicast.complete_at(member);
  }

  /// To be called now and then, before lag(): notes how far we have come.
  void note_course(std::uint64_t now_ns);
  /// How far `member` (rank in the view) is behind us; how far we are, if it is ourselves. On the
  /// predicate thread.
  [[nodiscard]] Lag lag(std::uint32_t member) const;
  /// Where `member` is: it grows in a view whenever that one delivers.
  [[nodiscard]] std::uint64_t place_of(std::uint32_t member) const {
    return now_->multicast.place_of(member);
  }
  /// We have no space left, and wait for `member`.
  [[nodiscard]] bool holds_window(std::uint32_t member) const;

  /// A member whose words or records no correct member writes.
  [[nodiscard]] std::optional<Violation> violation() const;
  [[nodiscard]] GroupStatistics statistics() const;
  [[nodiscard]] const GroupShape& shape() const { return now_->shape; }

 private:
  // Batches a pass delivers before the predicates are looked at again: enough to amortise the pass,
  // few enough that acknowledgements keep flowing.
  static constexpr std::size_t kBatchesPerTurn = 4;

  // All that ends with a view.
  struct InView {
    InView(Subgroup& group, const GroupShape& of_view, SubgroupPlace at);
    const GroupShape shape;
    const SubgroupPlace place;
    Bounds bounds;
    Multicast<Memory> multicast;
    Delivery<Memory> delivery;
    // Delivery may run: the view was stepped once, the number of its first message is known, and
    // it is not wedged.
    std::atomic<bool> open{false};
    bool started;  // delivery knows the number of the first message
    bool wedged = false;
  };

  void take_over_delivered();
  void open(InView& view);
  void post(Fabric& fabric, const Outbox& out);

  Memory memory_;
  DeliveryCallback callback_;
  std::optional<SendRing> ring_;
  MulticastCounters counters_;
  DeliveryTotals totals_;
  Counter pushes_;
  std::unique_ptr<InView> now_;
  bool held_ = false;
  LagHistory course_;  // of this view
  std::uint64_t noted_ns_ = 0;
  std::uint64_t not_behind_ns_ = 0;  // when we last were not, or got on
  std::uint64_t noted_place_ = 0;
  std::atomic<bool> complete_{false};
  std::atomic<bool> halted_{false};

  // The delivery thread works on `open_` while `busy_`; closed (null) between two views. deliver()
  // is busy, too: at_cut() and at_rest() may be asked while it is in a callback.
  std::atomic<InView*> open_{nullptr};
  std::atomic<bool> busy_{false};
};

}  // namespace tutti
