/// \file group_core.hpp
/// What stands behind a Group: its subgroup on the predicate loop, the threads that wait for it,
/// and its delivery thread if it has one.
///
/// Life: made by Node::join, opened in the node's first view, halted by a failure or stop. It lives
/// as long as the NodeCore, which the Node, each Group, each Batch and the last claims keep.
/// Invariant C1: a claim counts as late if its record was not finished when the node, once it had
/// stored over_, looked at it; then it keeps the memory until it has ended. A claim finishes its
/// record, then looks at over_, with an AsymmetricFence in between: so each that was counted finds
/// over_ set, and asks whether it was counted. Neither it nor any other touches the group after
/// that, unless its thread holds the node.
/// Threads: claims, commits and waits any; the node's side (open, after_pass, ...) as marked.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/asymmetric_fence.hpp"
#include "multicast/barrier.hpp"
#include "multicast/subgroup.hpp"
#include "node/callbacks.hpp"
#include "node/clock.hpp"
#include "node/completions.hpp"
#include "node/disk_log.hpp"
#include "node/eras.hpp"
#include "node/group_replay.hpp"
#include "node/readiness.hpp"
#include "node/signal.hpp"
#include "tutti/batch.hpp"
#include "tutti/group.hpp"
#include "tutti/options.hpp"

namespace tutti {

class NodeCore;

class GroupCore {
 public:
  /// `options` are resolved: members, senders and window filled in.
  GroupCore(NodeCore& node, GroupOptions options, MemberIndex own);
  ~GroupCore();

  [[nodiscard]] const GroupOptions& options() const { return options_; }
  [[nodiscard]] const IndexedBy<MemberIndex, std::string>& members() const { return members_; }
  [[nodiscard]] MemberIndex own_index() const { return own_index_; }
  /// Null before the first view.
  [[nodiscard]] Subgroup<NativeMemory>* subgroup() const {
    return open_.load(std::memory_order_acquire);
  }

  // The application's side. try_claim and commit are inline (group_sends.hpp): see SendRing::claim.
  [[nodiscard]] Claim try_claim(std::uint32_t size) noexcept;
  /// Goes on from `space`, which try_claim() has returned.
  [[nodiscard]] Result<Claim> claim(Claim space, std::uint32_t size,
                                    std::chrono::nanoseconds timeout);
  /// Gives up a claim that was committed here and cannot be: it is another group's, or else `why`
  /// says what it "was" or "has".
  void refuse(Claim& claim, std::string_view why) noexcept;
  /// The claim is to have its first `bytes` bytes alone; not more than it has.
  void shrink(Claim& claim, std::uint32_t bytes) noexcept;
  /// try_claim() where there is space; nothing while the window is full, or the error why there
  /// will be no space.
  [[nodiscard]] std::optional<Result<Claim>> claim_if_any(std::uint32_t size);
  void commit(Claim& claim) noexcept;
  /// The same where the claim may be another group's, or empty: Ticket 0.
  [[nodiscard]] Ticket commit_own(Claim& claim) noexcept;
  void commit_safe(Claim& claim) noexcept;
  void abandon(Claim& claim) noexcept;
  [[nodiscard]] bool delivered(Ticket ticket) const noexcept;
  [[nodiscard]] Result<void> wait(Ticket ticket, std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> barrier(std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> on_delivered(Ticket ticket, DeliveredHandler handler);
  [[nodiscard]] Result<void> on_space(std::uint32_t size, SpaceHandler handler);
  [[nodiscard]] Completions& completions() { return completions_; }
  [[nodiscard]] Result<void> may_wait(std::string_view call) const;
  [[nodiscard]] const Callbacks& callbacks() const;
  [[nodiscard]] const std::string& delivery_name() const { return delivery_name_; }
  [[nodiscard]] std::optional<std::uint64_t> view_of(Ticket ticket) const;
  /// True outside this group's delivery callback: rows that were read there may be gone; and of
  /// what comes from the log, also before the group is open.
  [[nodiscard]] bool intact() const noexcept {
    return !callbacks().is_running_here(delivery_name_) || replay_.is_handing() ||
           subgroup() == nullptr || subgroup()->in_place();
  }
  [[nodiscard]] Result<void> wait_complete(std::chrono::nanoseconds timeout);
  void finish() noexcept;
  [[nodiscard]] Result<void> leave(std::chrono::nanoseconds timeout);
  /// What has this group as a part, and is let go of when it was left: claims keep it, too.
  void keep_by(const std::weak_ptr<const void>& keeper) { keeper_ = keeper; }
  /// This member has left it, while its node goes on.
  [[nodiscard]] bool has_left() const { return left_.load(std::memory_order_acquire); }
  /// Why nothing more comes of it; nothing while it goes on, or has not begun.
  [[nodiscard]] std::optional<Error> why_over() const;
  [[nodiscard]] GroupStatistics statistics() const;
  [[nodiscard]] std::vector<MemberLag> lags() const;

  // group_take.cpp: messages are taken, not handed over. `self` is this group's handle.
  [[nodiscard]] Result<Batch> take(const std::shared_ptr<GroupCore>& self, std::size_t max,
                                   std::chrono::nanoseconds timeout);
  void release() noexcept;
  [[nodiscard]] bool is_in_place() const noexcept;
  [[nodiscard]] Result<int> event_fd();
  /// For calls that wait until groups are complete: nobody may be left who takes.
  void pass_nulls();
  /// There is something that the application has not taken, or that it holds.
  [[nodiscard]] bool leaves_untaken();

  // The node's side, on the predicate thread; join_delivery after that ended.
  /// `log`: null without one. `first`: see GroupReplay; `call`: of the delivery callback.
  void open(Subgroup<NativeMemory>& subgroup, const std::atomic<std::uint64_t>& asleep,
            const DiskLog* log, FromLog first, CallMark& call) noexcept;
  /// The thread that calls the callback, before it delivers: hands it what comes from the log.
  void replay_here();
  void log_moved();   ///< any thread: its log has got further
  void look_again();  ///< any thread: whoever delivers, or takes, looks again
  [[nodiscard]] Result<void> start_delivery();  ///< its thread, once all groups are open
  /// A view begins.
  void entered(std::uint64_t view);
  /// After a pass that did something (predicate thread): wakes those who wait for it.
  void after_pass();
  /// Ends the group: claims and waits fail from now on.
  void halt();
  /// This member is in the group no more.
  void part();
  /// The application is called no more and sends no more; for the others the group goes on. Any
  /// thread, in a view.
  void end_calls();
  /// It has become complete, or is so no more.
  void completed();
  /// No other thread reads the others' rows, but for a batch that the application holds: the node
  /// does not wait for that one when it ends.
  [[nodiscard]] bool rests() { return subgroup()->at_rest_but_for_a_loan(); }
  /// Those who wait look again whether it is worth while.
  void wake_waiters();
  /// After halt() or end_calls(): the group's delivery thread, if it has one, has done its last.
  [[nodiscard]] bool has_delivery_ended() const {
    return delivery_ended_.load(std::memory_order_acquire);
  }
  void join_delivery();
  /// After the node has ended: how many claims have not. The node is told when they do.
  [[nodiscard]] std::uint64_t count_late_claims();

 private:
  // What the application does that takes messages; or a call that passes nulls, for a moment.
  enum class Taker : std::uint8_t { none, looks, holds, passes };

  void run_delivery();
  void has_delivered() noexcept;  ///< the predicate loop goes on, those who wait look again
  void views_may_follow() noexcept;
  [[nodiscard]] Result<void> may_take(std::size_t max) const;
  [[nodiscard]] std::optional<Error> why_ended(std::chrono::nanoseconds timeout) const;
  [[nodiscard]] Batch look(const std::shared_ptr<GroupCore>& self, std::size_t max);
  [[nodiscard]] Batch look_at_log(const std::shared_ptr<GroupCore>& self, std::size_t max);
  /// Something was committed or delivered: wakes the predicate thread if it sleeps.
  void notify_work() noexcept;
  /// The same after a fence (T3).
  void wake_sleeper() noexcept;
  void ring_doorbell() noexcept;
  void notify_claim_ended(std::uint64_t index) noexcept;
  void late_claim_ended(std::uint64_t index) noexcept;
  [[nodiscard]] static SendRing::Space space_of(const Claim& claim) {
    return {claim.data_, claim.end_, claim.index_};
  }
  [[nodiscard]] Barrier begin_barrier(Claim& claim) noexcept;
  [[nodiscard]] Error refusal(ClaimOutcome outcome, std::uint32_t size) const;
  [[nodiscard]] Error names_no_message() const;
  /// try_claim() says at once why there is no space, and never will be.
  [[nodiscard]] bool waits_in_vain(std::uint32_t size) const noexcept;
  [[nodiscard]] Error why_in_vain(std::string_view call, std::chrono::nanoseconds timeout,
                                  std::string late) const;

  NodeCore& node_;
  const GroupOptions options_;
  const IndexedBy<MemberIndex, std::string> members_;
  const MemberIndex own_index_;
  const std::string delivery_name_;
  std::atomic<Subgroup<NativeMemory>*> open_{nullptr};  // set in the first view, then for good
  std::atomic<SendRing*> ring_{nullptr};                // likewise, if this member sends
  const std::atomic<std::uint64_t>* asleep_ = nullptr;  // the node's RowHeader::asleep
  const DiskLog* log_ = nullptr;                        // read once open_ is set
  GroupReplay replay_;                                  // likewise
  AsymmetricFence fence_;
  Signal progress_;     // space was released, messages were delivered, or may be taken
  Signal deliverable_;  // for the delivery thread
  std::atomic<std::uint64_t> sender_waits_{0};
  std::atomic<bool> halted_{false};
  std::atomic<bool> finished_{false};
  std::atomic<bool> left_{false};
  std::weak_ptr<const void> keeper_{};  // empty: the node
  std::atomic<bool> over_{false};       // C1
  std::mutex late_mutex_;
  std::vector<bool> late_;  // by record, from the first that was not taken
  std::atomic<Taker> taker_{Taker::none};
  std::span<const Message> found_;  // by pass_nulls(); of who has taker_
  Readiness readiness_;             // there may be something to take
  std::thread delivery_thread_;
  std::atomic<bool> delivery_ended_{true};

  Completions completions_;

  mutable std::mutex eras_mutex_;
  Eras eras_;

  // Records of this member: what waiters on progress_ wait for, besides something to take. On a
  // line of its own, for the predicate thread stores it at each pass, and senders read what is
  // around.
  struct Moved {
    std::uint64_t delivered = 0;
    std::uint64_t released = 0;
    bool complete = false;  // of the group: a taker waits for it, too
    bool operator==(const Moved&) const = default;
  };
  alignas(64) Moved moved_;  // when they were woken last
};

}  // namespace tutti
