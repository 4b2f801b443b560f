/// \file engine.hpp
/// One member, put together: its groups, the membership, the transfer of states, the trials of
/// paths, and the loop that steps them; with what lies between these and the outside: connections,
/// rows that may be let go, and how far the application is behind the protocol.
///
/// The node and the simulator run this and nothing else: they differ in Memory, in the Fabric, in
/// where time comes from, and in what their EngineEvents do.
///
/// Invariants: P1 a node that is gone keeps its slot, and its row stays readable, until no view has
/// it and all messages of the views that had it are delivered here; only then is it let go. What it
/// still writes changes no byte that we deliver: as long as it runs it holds its space for us,
/// whose words of it do not move any more. P2 a member
/// that was delivered everything there will be, and ends, is not suspected: no other member needs
/// it. Only if the view changes, the others go on without it. So it must not end while it takes
/// part in a change of view, see may_end(). P3 the application is told of a view once all groups
/// have delivered what comes before it, and before any delivers what comes in it, never from a
/// step. P4 a node that is connected and in no view with us is let go once it has been silent for
/// `patience_ns`: it keeps another one of its name out. Threads: one at a time, the predicate
/// thread; others as marked.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine_events.hpp"
#include "engine/litmus.hpp"
#include "engine/row_plan.hpp"
#include "fabric/fabric.hpp"
#include "fabric/slot.hpp"
#include "membership/failure_detector.hpp"
#include "membership/membership.hpp"
#include "membership/state_transfer.hpp"
#include "multicast/subgroup.hpp"
#include "multicast/ticker.hpp"
#include "predicates/predicate_loop.hpp"
#include "requests/requests.hpp"
#include "tutti/indexed_by.hpp"

namespace tutti {

/// Whether whoever makes a pass may call the application in it.
enum class Calls : std::uint8_t { allowed, forbidden };

/// How the application ends its member: by Node::stop or by Node::leave.
enum class Ending : std::uint8_t { none, stops, leaves };

struct EngineOptions {
  MembershipOptions membership{};
  std::uint64_t patience_ns = 1'000'000'000;  ///< P4
  std::uint32_t litmus_rounds = 0;            ///< NodeOptions; 0 if the plan is without trials
};

/// What an engine works on; all of it outlives the engine.
struct EngineContext {
  const RowPlan& plan;
  std::byte* own_row;  ///< zeros
  Fabric& fabric;
  RowOf row_of;  ///< the fabric's rows, by the shortest way
  StateJobs& jobs;
  std::vector<DeliveryCallback> deliveries;  ///< by group; empty where nothing is delivered
  std::vector<LogSink*>
      logs{};  ///< by group; null where this node keeps none; empty: it keeps none
  std::uint64_t (*clock)() = nullptr;            ///< of statistics only; null: without durations
  std::function<std::uint64_t()> time_of_day{};  ///< of ticks: the system clock, in ns
  RequestEvents* requests = nullptr;             ///< not null if the plan has requests
};

template <class Memory>
class Engine final : private MembershipEvents {
 public:
  Engine(const EngineOptions& options, EngineContext context, EngineEvents& events,
         Memory memory = {});
  ~Engine() override;

  /// One pass over all there is to do. Returns how much was done. A pass that must not call the
  /// application leaves the deliveries to the next pass that may, and does all else.
  std::size_t pass(std::uint64_t now_ns, Calls calls = Calls::allowed);

  /// The node in that slot is connected: its row can be read, and it reads ours.
  void connected(Slot slot, std::uint64_t incarnation);
  /// The fabric, or a caller that knows, says that the node is lost.
  void lost(Slot slot, const std::string& reason);
  /// The incarnation of the node that is connected there, 0 if none is.
  [[nodiscard]] std::uint64_t connected_to(Slot slot) const { return connected_[slot]; }
  /// P1: removed, and not let go yet.
  [[nodiscard]] bool is_parting(Slot slot) const;

  [[nodiscard]] Membership<Memory>& membership() { return *membership_; }
  [[nodiscard]] const Membership<Memory>& membership() const { return *membership_; }
  [[nodiscard]] const StateTransfer<Memory>& states() const { return *states_; }
  /// Null if the plan has none. Its write() and release() may be called as it says.
  [[nodiscard]] Requests<Memory>* requests() { return requests_.get(); }
  /// Of a group that is joined at run time it is another one whenever this member comes into it or
  /// out of it.
  [[nodiscard]] Subgroup<Memory>& subgroup(std::size_t group) { return *subgroups_[group]; }
  /// The same, to be kept for as long as the application knows of it.
  [[nodiscard]] std::shared_ptr<Subgroup<Memory>> subgroup_kept(std::size_t group) {
    return subgroups_[group];
  }
  [[nodiscard]] const Subgroup<Memory>& subgroup(std::size_t group) const {
    return *subgroups_[group];
  }
  [[nodiscard]] const PredicateLoop& loop() const { return *loop_; }
  [[nodiscard]] const View& view() const { return membership_->view(); }
  /// To be called before the last pass ahead of a sleep: that pass reads the membership's words of
  /// all others, however short ago the last one did. A peer rings this node only for what it says
  /// after the fabric was armed.
  void look_at_once() { membership_->look_at_once(); }
  /// When it wants to be passed next although nothing happens.
  [[nodiscard]] std::uint64_t next_pass_ns() const;

  /// All groups are complete. Any thread.
  [[nodiscard]] bool complete() const;
  /// The application, which is in a view, ends this member: it sends nothing more. With
  /// Ending::leaves it asks to leave once all it sent is delivered here. If nodes join once all was
  /// complete, which may send more, this member does not wait for them: it asks to leave as well.
  /// Again is as good as once.
  void end(Ending how);
  [[nodiscard]] Ending ending() const { return ending_; }
  /// All groups are complete, or were when anybody looked: that is kept, whoever joins. Each pass
  /// of a member that ends looks. Any thread, of a member that ends.
  [[nodiscard]] bool was_complete();
  /// P2. This member ends, and no other needs it: the others let it go, or all groups are complete
  /// and no change of view is under way that counts on it.
  [[nodiscard]] bool may_end() const;
  /// P2. It may end, the last pass found nothing to do, and all that it said is with the others: it
  /// goes without a word, and must not be passed again.
  [[nodiscard]] bool has_ended() const;
  /// This member has been delivered everything there will be, so it loses nothing with the others.
  /// Where no sender is left it cannot know that, unless it ends: a node that joins may send.
  [[nodiscard]] bool is_through() const;
  /// Views that the application has yet to be told of, and members that are gone and not let go
  /// yet: both go back to 0.
  [[nodiscard]] std::size_t unsettled() const {
    return untold_.size() + parting_.size() + ended_.size() + membership_->leavers();
  }

 private:
  // A view that the application has not been told of.
  struct Untold {
    Entry entry;
    bool reached = false;
    bool awaits = false;  // the state that we joined for
  };
  struct Parting {
    Slot slot{};
    std::uint64_t view = 0;  // the first that it is not in
  };

  void seat_groups(const EngineOptions& options, EngineContext& context, Memory memory);
  Subgroup<Memory>* renew(std::size_t group, const OpenGroup* open,
                          const GroupSeat::Seated& seated);
  // Everything that comes before that view was delivered here, in all groups.
  [[nodiscard]] bool delivered_before(std::uint64_t view) const;
  [[nodiscard]] bool is_in_view(Slot slot) const;
  // The view has a node in that slot, maybe another incarnation: its groups read there.
  [[nodiscard]] bool is_seated(Slot slot) const {
    return view().id != 0 && view().rank_of(slot).has_value();
  }

  // MembershipEvents.
  void suspected(const ViewMember& member) override;
  void wedged(WedgeReason reason, const ViewMember& joiner) override {
    events_.wedged(reason, joiner);
  }
  void decided(const Proposal& proposal) override;
  void installed(const View& view, const View& before) override;
  void stopped(StopReason reason) override;
  void removed(const ViewMember& member) override;
  void left_before(const ViewMember& member, bool in_order) override;
  [[nodiscard]] std::uint64_t heard(Slot slot) const override { return fabric_.heard(slot); }
  [[nodiscard]] bool is_needed() const override { return states_->is_needed(); }

  // engine_end.cpp
  bool follow_end();
  [[nodiscard]] bool sent_all() const;
  void follow_ended();
  [[nodiscard]] bool enough_are_there() const;
  [[nodiscard]] bool has_joiners() const { return view().survivors < view().members.size(); }
  void ask_to_leave();
  // engine_peers.cpp
  void follow_litmus();
  void beat_on_trial();
  void watch_outsiders();
  void lost_outsider(Slot slot);
  void hang_up_on_removed();
  void part_from_removed();
  void part(Slot slot);
  [[nodiscard]] bool is_done(Slot slot) const;
  std::size_t tick();
  // engine_views.cpp
  std::size_t follow_views();
  void reach(Untold& next);
  void follow_taking();

  const Slot self_;
  const std::uint64_t patience_ns_;
  std::byte* own_row_;
  Fabric& fabric_;
  RowOf row_of_;
  EngineEvents& events_;
  Memory memory_;
  std::unique_ptr<PredicateLoop> loop_;
  std::vector<std::shared_ptr<Subgroup<Memory>>> subgroups_;
  std::uint64_t (*clock_)();
  struct GroupTicker {
    std::size_t group;
    Ticker<Memory> ticker;
  };
  std::vector<GroupTicker> tickers_;  // of the groups that have ticks
  std::function<std::uint64_t()> time_of_day_;
  std::unique_ptr<Membership<Memory>> membership_;
  std::unique_ptr<StateTransfer<Memory>> states_;
  std::unique_ptr<Litmus<Memory>> litmus_;      // only where it is asked for
  std::unique_ptr<Requests<Memory>> requests_;  // only where the plan has them

  IndexedBy<Slot, std::uint64_t> connected_;  // the incarnation there, 0 if none
  FailureDetector outsiders_;                 // P4
  std::uint64_t now_ns_ = 0;
  std::uint64_t next_outsiders_ns_ = 0;
  std::uint64_t shown_beat_ = 0;  // to those on whose path there is a trial
  std::vector<Parting> parting_;
  std::vector<ViewMember> to_hang_up_;  // removed in this pass
  std::vector<ViewMember> ended_;       // P2
  std::optional<Proposal> decision_;    // the last one
  std::deque<Untold> untold_;           // the oldest first
  Ending ending_ = Ending::none;
  std::atomic<bool> was_complete_{false};
  const bool renews_;          // subgroups: then only the predicate thread looks at all of them
  bool joined_since_ = false;  // a node, after somebody saw that all was complete
  bool asked_to_leave_ = false;
  bool idle_ = false;  // the last pass found nothing to do
};

}  // namespace tutti
