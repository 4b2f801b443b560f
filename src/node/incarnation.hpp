/// \file incarnation.hpp
/// One start of a node as a member of its cluster: the memory of its row, the ways to the other
/// nodes, the membership and the groups' protocol, turned by whoever drives the node.
///
/// Invariants: P1 a node that is gone keeps its slot, and its row stays readable, until no view has
/// it and all messages of the views that had it are delivered here; only then may it, or another
/// incarnation, come again. What it still writes changes no byte that we deliver: as long as it
/// runs it holds its space for us, whose words of it do not move any more. P2 who has been
/// delivered everything there will be and goes is not suspected: it owes nobody anything. P3 the
/// application is told of a view once all groups have delivered what comes before it, and before
/// any delivers what comes in it, from follow_views() alone: never from a step. Threads: pass() and
/// the events one at a time, the predicate thread; others as marked.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/ofi/ofi_fabric.hpp"
#include "fabric/routed.hpp"
#include "fabric/segment.hpp"
#include "fabric/shm/shm_fabric.hpp"
#include "fabric/sleeper.hpp"
#include "fabric/tcp/tcp_fabric.hpp"
#include "fabric/verbs/verbs_fabric.hpp"
#include "membership/membership.hpp"
#include "membership/state_transfer.hpp"
#include "node/bootstrap/lobby.hpp"
#include "node/incarnation_events.hpp"
#include "node/lag_watch.hpp"
#include "node/litmus.hpp"
#include "node/repeats.hpp"
#include "node/state_thread.hpp"
#include "predicates/predicate_loop.hpp"
#include "tutti/options.hpp"
#include "tutti/view.hpp"

namespace tutti {

class Incarnation final : private MembershipEvents {
 public:
  /// Opens the row, the fabrics and the lobby. `groups` are resolved, in the order of their names;
  /// all that is given outlives this.
  [[nodiscard]] static Result<std::unique_ptr<Incarnation>> open(
      const NodeOptions& node, const std::vector<GroupOptions>& groups, IncarnationEvents& events,
      bool may_found);
  ~Incarnation() override;

  /// One pass over all there is to do. Returns how much was done.
  std::size_t pass(Calls calls);

  /// Closes all connections and frees what they showed; not to be passed any more.
  void hang_up();
  /// After the last pass: the thread for states ends once the callback that runs there has
  /// returned, and drops all snapshots. IncarnationEvents::calls_ended() follows.
  void quit_states();
  [[nodiscard]] bool have_states_ended() const;
  void end_states() { state_thread_.reset(); }

  /// Tells whoever looks at this node that it has stopped. The predicate thread.
  void show_stopped(const std::string& why) { lobby_->show_stopped(why); }
  /// Tells all that come why they are not connected. After stopped().
  void turn_away(std::string why) { lobby_->set_ended(std::move(why)); }

  /// Asks to leave the group in order, once those who take a state from here have it;
  /// StopReason::left follows.
  void leave() { membership_->leave(); }

  [[nodiscard]] Subgroup<NativeMemory>& subgroup(std::size_t group) { return *subgroups_[group]; }
  /// Name of the member at that rank of the view.
  [[nodiscard]] const std::string& member(std::uint32_t rank) const;
  [[nodiscard]] const View& view() const { return membership_->view(); }
  /// See Membership.
  [[nodiscard]] bool may_have_founded() const { return membership_->may_have_founded(); }
  /// Names of the members that this one has suspected in its last view.
  [[nodiscard]] std::vector<std::string> suspected() const;
  /// What comes after this view is decided, and not reached yet.
  [[nodiscard]] bool decided() const { return membership_->has_decided(); }
  /// When it wants to be passed next although nothing happens.
  [[nodiscard]] std::uint64_t next_pass_ns() const { return membership_->next_step_ns(); }
  /// When the last pass began, 0 if there was none.
  [[nodiscard]] std::uint64_t passed_ns() const { return passed_ns_; }

  // Any thread.
  [[nodiscard]] Sleeper& sleeper() { return *sleeper_; }
  [[nodiscard]] const Lobby& lobby() const { return *lobby_; }
  [[nodiscard]] const std::atomic<std::uint64_t>& asleep() const;
  [[nodiscard]] const PredicateLoop& loop() const { return *loop_; }
  [[nodiscard]] const LagWatch& lags() const { return lags_; }
  /// Of the group's delivery callback.
  [[nodiscard]] const CallMark& call(std::size_t group) const { return calls_[group]; }
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
              IncarnationEvents& events, bool may_found);
  [[nodiscard]] Result<void> open_row();
  [[nodiscard]] Result<void> open_fabrics();
  [[nodiscard]] Result<std::unique_ptr<OfiFabric>> open_ofi();
  [[nodiscard]] Result<std::unique_ptr<VerbsFabric>> open_verbs();
  void seat_groups();
  void seat_states(const RowOf& row_of);
  [[nodiscard]] Result<void> start_state_thread();
  [[nodiscard]] GroupState state_of(std::size_t index);
  [[nodiscard]] Founding founding() const;
  [[nodiscard]] Result<void> open_lobby();
  [[nodiscard]] MembershipOptions membership_options() const;
  [[nodiscard]] DeliveryCallback delivery_of(std::size_t index);

  void take_arrivals();
  void tell_unconnected(std::uint32_t slot, const Error& why);
  [[nodiscard]] Result<void> attach(Arrival arrival);
  // Which of the fabrics takes over a connection.
  [[nodiscard]] ShmFabric& fabric_for(const ShmConnection&) { return *shm_; }
  [[nodiscard]] TcpFabric& fabric_for(const TcpConnection&) { return *tcp_; }
  [[nodiscard]] VerbsFabric& fabric_for(const VerbsConnection&) { return *verbs_; }
  [[nodiscard]] OfiFabric& fabric_for(const OfiConnection&) { return *ofi_; }
  void detach(Rank peer);
  void part_from_removed();
  void part(std::uint32_t slot);
  void lost(const PeerLoss& loss);
  [[nodiscard]] bool in_view(std::uint32_t slot) const;
  [[nodiscard]] bool is_done(std::uint32_t slot) const;
  void log(LogLevel level, const std::string& text) const;

  void decided(const Proposal& proposal) override { decided_ = proposal; }
  void installed(const View& view, const View& before) override;
  void suspected(const ViewMember& member) override { states_->gone(member.slot); }
  std::size_t follow_views();
  [[nodiscard]] bool delivered_before(std::uint64_t view) const;
  void begin_states(const View& view);
  void follow_taking();
  void follow_litmus();
  void beat_on_trial();
  void watch_lags();
  [[nodiscard]] std::chrono::nanoseconds patience_with_outsiders() const;
  void watch_outsiders();
  void lost_outsider(std::uint32_t slot);
  void remove_the_still(const std::string& group);
  void show(NodeState state, const ViewChange& change);
  void stopped(StopReason reason) override { events_.ended(reason); }
  void removed(const ViewMember& member) override;
  [[nodiscard]] bool is_needed() const override { return states_->is_needed(); }

  const NodeOptions& node_;
  const std::vector<GroupOptions>& groups_;
  IncarnationEvents& events_;
  const bool may_found_;
  std::vector<std::string> names_;  // by slot
  std::uint32_t self_ = 0;          // slot
  std::uint64_t incarnation_ = 0;
  ViewWords words_;
  StateWords state_words_;
  std::size_t litmus_offset_ = 0;
  std::vector<RowLayout> layouts_;       // by slot
  std::vector<CallMark> calls_;          // by group
  std::vector<StateCalls> state_calls_;  // the same
  LagWatch lags_;
  std::uint64_t next_lags_ns_ = 0;
  std::vector<MemberLag> lag_figures_;  // of one group at a time, memory to be used again
  std::vector<std::uint64_t> places_;   // the same
  std::uint64_t passed_ns_ = 0;
  std::optional<Segment> row_;
  std::unique_ptr<Sleeper> sleeper_;
  ShmFabric* shm_ = nullptr;
  TcpFabric* tcp_ = nullptr;
  OfiFabric* ofi_ = nullptr;               // only where it is asked for
  VerbsFabric* verbs_ = nullptr;           // only where there is RDMA
  std::shared_ptr<verbs::Device> device_;  // the same
  std::unique_ptr<RoutedFabric> fabric_;
  std::vector<std::unique_ptr<Subgroup<NativeMemory>>> subgroups_;
  std::unique_ptr<Membership<NativeMemory>> membership_;
  std::unique_ptr<StateJobs> state_jobs_;
  std::unique_ptr<StateTransfer<NativeMemory>> states_;
  std::unique_ptr<StateThread> state_thread_;  // only where a group has a state
  std::unique_ptr<Litmus> litmus_;             // only where it is asked for
  std::unique_ptr<PredicateLoop> loop_;
  std::atomic<bool> sees_group_{false};
  std::unique_ptr<Lobby> lobby_;  // its thread asks for what stands above

  std::vector<std::uint64_t> attached_;  // by slot: the incarnation connected there, 0 if none
  std::vector<Repeats> unconnected_;     // by slot
  FailureDetector outsiders_;            // of nodes that are connected and not in our view
  std::uint64_t next_outsiders_ns_ = 0;
  std::uint64_t shown_beat_ = 0;  // to those on whose path there is a trial
  struct Parting {
    std::uint32_t slot = 0;
    std::uint64_t view = 0;  // the first that it is not in
  };
  std::vector<Parting> parting_;
  std::optional<Proposal> decided_;
  // Views that the application has not been told of, the oldest first.
  struct Untold {
    View view;
    ViewChange change;
    bool begun = false;   // states_ knows it
    bool awaits = false;  // the state that we joined for
  };
  std::deque<Untold> untold_;
  bool told_any_ = false;
  std::atomic<std::uint32_t> gives_state_{0};  // 1 + the slot of who does
  bool leaves_ = false;                        // without the state that it joined for
};

}  // namespace tutti
