/// \file incarnation.hpp
/// One start of a node as a member of its cluster: the memory of its row, the ways to the other
/// nodes, and the engine on them, turned by whoever drives the node.
///
/// Threads: pass() and the events one at a time, the predicate thread; others as marked.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "fabric/carrier.hpp"
#include "fabric/routed.hpp"
#include "fabric/segment.hpp"
#include "fabric/sleeper.hpp"
#include "fabric/slot.hpp"
#include "node/bootstrap/bootstrap.hpp"
#include "node/disk_watch.hpp"
#include "node/incarnation_events.hpp"
#include "node/lag_watch.hpp"
#include "node/repeats.hpp"
#include "node/restart/restart_thread.hpp"
#include "node/snapshot_taker.hpp"
#include "node/state_thread.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/options.hpp"
#include "tutti/view.hpp"

namespace tutti {

/// How a node comes into its first view, and where it keeps what lasts.
struct IncarnationSetup {
  bool may_create = true;               ///< it may found a group
  GroupSpaces spaces{};                 ///< the groups that are joined at run time
  std::vector<LogSink*> logs{};         ///< by group, or none
  DiskLogs* disk_logs = nullptr;        ///< of a node with logs: the same
  RestartThread* restart = nullptr;     ///< of a node with logs
  std::optional<RestartView> founds{};  ///< it founds this view, with just these members
};

class Incarnation final : private EngineEvents {
 public:
  /// Opens the row, the fabrics and the bootstrap. `groups` are resolved, in the order of their
  /// names; all that is given outlives this.
  [[nodiscard]] static Result<std::unique_ptr<Incarnation>> open(
      const NodeOptions& node, const std::vector<GroupOptions>& groups, IncarnationEvents& events,
      RequestEvents& requests, IncarnationSetup setup);
  ~Incarnation() override;

  /// One pass over all there is to do. Returns how much was done.
  std::size_t pass(Calls calls);

  /// Closes all connections and frees what they showed, unless the others' rows are to stay
  /// readable, for a batch that is held; not to be passed any more.
  void hang_up(bool rows_stay = false);
  /// After the last pass: the thread for states ends once the callback that runs there has
  /// returned, and drops all snapshots. IncarnationEvents::calls_ended() follows.
  void quit_states();
  [[nodiscard]] bool have_states_ended() const;
  void end_states() { state_thread_.reset(); }
  /// The thread for states is to look for what there is to do. Any thread.
  void wake_states() {
    if (state_thread_ != nullptr) state_thread_->wake();
  }
  [[nodiscard]] SnapshotTaker& snapshots() { return *snapshots_; }

  /// Tells whoever looks at this node that it has stopped. The predicate thread.
  void show_stopped(const std::string& why) { bootstrap_->show_stopped(why); }
  /// Tells all that come why they are not connected. After stopped().
  void turn_away(std::string why) { bootstrap_->set_ended(std::move(why)); }

  /// Asks to leave the group in order, once those who take a state from here have it;
  /// StopReason::left follows.
  void leave() { engine_->membership().leave(); }

  [[nodiscard]] Subgroup<NativeMemory>& subgroup(std::size_t group) {
    return engine_->subgroup(group);
  }
  /// See Membership::wish() and withdraw(), and Engine::subgroup_kept().
  [[nodiscard]] Membership<NativeMemory>& membership() { return engine_->membership(); }
  [[nodiscard]] std::shared_ptr<Subgroup<NativeMemory>> subgroup_kept(std::size_t group) {
    return engine_->subgroup_kept(group);
  }
  [[nodiscard]] Slot self() const { return self_; }
  /// Null without requests. See there who may call.
  [[nodiscard]] Requests<NativeMemory>* requests() { return engine_->requests(); }
  /// Name of the member at that rank of the view.
  [[nodiscard]] const std::string& member(Rank rank) const;
  [[nodiscard]] const View& view() const { return engine_->view(); }
  [[nodiscard]] const std::string& name_of(Slot slot) const { return plan_.names[slot]; }
  /// See Membership.
  [[nodiscard]] bool may_have_created() const { return engine_->membership().may_have_created(); }
  /// Names of the members that this one has suspected in its last view.
  [[nodiscard]] std::vector<std::string> suspects() const;
  /// What comes after this view is decided, and not reached yet.
  [[nodiscard]] bool has_decided() const { return engine_->membership().has_decided(); }
  // See Engine.
  void end(Ending how) { engine_->end(how); }
  [[nodiscard]] bool may_end() const { return engine_->may_end(); }
  [[nodiscard]] bool has_ended() const { return engine_->has_ended(); }
  [[nodiscard]] bool is_through() const { return engine_->is_through(); }
  /// When it wants to be passed next although nothing happens.
  [[nodiscard]] std::uint64_t next_pass_ns() const { return engine_->next_pass_ns(); }
  void look_at_once() { engine_->look_at_once(); }
  /// When the last pass began, 0 if there was none.
  [[nodiscard]] std::uint64_t passed_ns() const { return passed_ns_; }

  // Any thread.
  [[nodiscard]] bool was_complete() { return engine_->was_complete(); }
  [[nodiscard]] Sleeper& sleeper() { return *sleeper_; }
  [[nodiscard]] const Bootstrap& bootstrap() const { return *bootstrap_; }
  [[nodiscard]] const std::atomic<std::uint64_t>& asleep() const;
  [[nodiscard]] const PredicateLoop& loop() const { return engine_->loop(); }
  [[nodiscard]] const LagWatch& lags() const { return lags_; }
  /// Of the group's delivery callback.
  [[nodiscard]] const CallMark& call(std::size_t group) const { return calls_[group]; }
  /// For the thread that makes the call.
  [[nodiscard]] CallMark& call(std::size_t group) { return calls_[group]; }
  [[nodiscard]] const StateCalls& state_calls(std::size_t group) const {
    return state_calls_[group];
  }
  /// Name of the member whose state this one, which joins, has yet to get; empty if none.
  [[nodiscard]] std::string gives_state() const;
  /// Names of the members that have yet to take some of the state from this one. The predicate
  /// thread, or any after the last pass.
  [[nodiscard]] std::vector<std::string> takes_state() const;
  /// Before its first view: one of the members that it is connected to is in a view. Any thread.
  [[nodiscard]] bool sees_group() const { return sees_group_.load(std::memory_order_relaxed); }

  // The predicate thread.
  [[nodiscard]] Fabric& fabric() { return *fabric_; }

 private:
  Incarnation(const NodeOptions& node, const std::vector<GroupOptions>& groups,
              IncarnationEvents& events, RequestEvents& requests, IncarnationSetup setup);
  [[nodiscard]] Result<void> open_row();
  [[nodiscard]] Result<void> open_fabrics();
  void open_engine();
  void open_snapshots();
  [[nodiscard]] Result<void> start_state_thread();
  [[nodiscard]] GroupState state_of(std::size_t index);
  [[nodiscard]] Founding founding() const;
  [[nodiscard]] Result<void> open_bootstrap();
  [[nodiscard]] MembershipOptions membership_options() const;
  [[nodiscard]] DeliveryCallback delivery_of(std::size_t index);

  void take_arrivals();
  void tell_removed(const Entry& entry);
  void tell_unconnected(Slot slot, const Error& why);
  [[nodiscard]] Result<void> attach(Arrival arrival);
  void detach(Slot peer);
  void log(LogLevel level, const std::string& text) const;

  // EngineEvents.
  void entered(const Entry& entry) override;
  void stopped(StopReason reason) override { events_.ended(reason); }
  void removed(const ViewMember& member) override { bootstrap_->refuse(member.incarnation); }
  void lost(Slot slot, const std::string& reason, bool let_go) override;
  void silent(Slot slot) override;
  void let_go(Slot slot) override;
  void distrusted(Slot slot, const std::string& what) override;
  bool stepped() override;
  [[nodiscard]] bool ends() const override { return events_.ends(); }
  void takes_from(Slot slot) override {
    gives_state_.store(1 + slot.value, std::memory_order_relaxed);
  }
  void asks_to_leave() override { gives_state_.store(0, std::memory_order_relaxed); }
  void tell(const Entry& entry) override;
  void no_state(const Error& why) override { events_.no_state(why); }
  [[nodiscard]] DeliveryCallback joins(std::size_t group, const OpenGroup& open) override {
    return events_.joins(open, view().id, calls_[group]);
  }

  [[nodiscard]] ViewChange change_of(const Entry& entry) const;
  bool watch_lags();
  void forget_closed();
  [[nodiscard]] const std::string* shown_name(std::size_t group) const;
  void watch_disks(std::size_t group);
  void tell_durable(std::size_t group);
  [[nodiscard]] std::chrono::nanoseconds patience_with_outsiders() const;
  void remove_the_still(const GroupOptions& group, const std::string& name);
  void show(NodeState state, const ViewChange& change);

  const NodeOptions& node_;
  const std::vector<GroupOptions>& groups_;
  IncarnationEvents& events_;
  RequestEvents& requests_;
  const IncarnationSetup setup_;
  const RowPlan plan_;
  const Slot self_;
  std::uint64_t incarnation_ = 0;
  std::vector<CallMark> calls_;          // by group
  std::vector<StateCalls> state_calls_;  // the same
  LagWatch lags_;
  OpenGroups lagged_;  // those in lags_
  DiskWatch disks_;
  std::uint64_t next_lags_ns_ = 0;
  std::vector<MemberLag> lag_figures_;    // of one group at a time, memory to be used again
  std::vector<std::uint64_t> positions_;  // the same
  std::vector<DiskWatch::Mark> marks_;    // the same
  std::uint64_t passed_ns_ = 0;
  std::optional<Segment> row_;
  std::unique_ptr<Sleeper> sleeper_;
  std::vector<std::unique_ptr<Carrier>> carriers_;  // those that have a fabric
  std::unique_ptr<RoutedFabric> fabric_;
  std::unique_ptr<StateJobs> state_jobs_;
  std::unique_ptr<Engine<NativeMemory>> engine_;
  std::unique_ptr<SnapshotTaker> snapshots_;
  std::unique_ptr<StateThread> state_thread_;  // only where a group has a state
  std::atomic<bool> sees_group_{false};
  std::unique_ptr<Bootstrap> bootstrap_;  // its thread asks for what stands above
  IndexedBy<Slot, Repeats> unconnected_;
  ViewChange newest_;                // that the protocol is in
  IndexedBy<Slot, bool> told_lost_;  // the loss of the member there was said
  bool told_any_ = false;
  std::atomic<std::uint32_t> gives_state_{0};  // 1 + the slot of who does
};

}  // namespace tutti
