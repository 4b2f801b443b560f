/// \file member.hpp
/// One incarnation of a node in the simulated world: the library's own membership, groups and
/// predicate loop over simulated memory, an application that sends and checks its deliveries, and
/// their history. Its views, deliveries and sends are the application's, which may be behind the
/// protocol; its suspicions, wedges and decisions are the protocol's.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "engine/engine.hpp"
#include "history/make_event.hpp"
#include "history/recorder.hpp"
#include "sim/connection.hpp"
#include "sim/entered.hpp"
#include "sim/failpoints.hpp"
#include "sim/memory.hpp"
#include "sim/net.hpp"
#include "sim/options.hpp"
#include "sim/plan.hpp"
#include "sim/refs.hpp"
#include "sim/requests.hpp"
#include "sim/row.hpp"
#include "sim/seat.hpp"
#include "sim/suspicion.hpp"
#include "sim/wishing.hpp"

namespace tutti::sim {

class Member final : private EngineEvents {
 public:
  Member(const Plan& plan, ViewMember self, bool may_create, Net& net, std::uint64_t seed);

  /// Makes one pass. Returns how much was done.
  std::size_t pass();
  /// The pass stops in the middle: others may see what it has stored so far.
  void stop_in_pass();
  /// Runs the threads once that deliver for groups beside it. True if they delivered anything.
  bool turn_delivery_threads();
  bool turn_handlers();  ///< likewise those that call handlers; false if all of them wait
  void end_handlers();   ///< the node has ended: these threads end
  /// Until then the application does not return from its callbacks: those on the predicate thread,
  /// or those on the delivery threads.
  void get_stuck(std::uint64_t until_ns, bool on_own_threads);

  /// The application sends to one of its groups if there is space, as safe if asked where it may.
  void send(bool safe = false);
  void leave();
  /// The application sends nothing more, as after Group::finish. Idempotent.
  void finish();
  /// The application also ends the member, as soon as that may end. Idempotent.
  void end(Ending how);
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] Ending ending() const { return engine_->ending(); }
  /// All its groups are complete.
  [[nodiscard]] bool complete() const { return engine_->complete(); }
  /// It is complete and makes no more passes (P2); it still has to close its connections.
  [[nodiscard]] bool ended() const { return ended_ns_.has_value(); }
  [[nodiscard]] std::optional<std::uint64_t> ended_ns() const { return ended_ns_; }
  /// It was complete when it lost the others: it stays, without a change of view, until it ends.
  [[nodiscard]] bool rests() const { return rests_; }
  /// Its application had ended it when it stopped.
  [[nodiscard]] bool ended_then() const { return ended_then_; }
  /// A path to it does not keep the order of writes.
  [[nodiscard]] bool distrusts() const { return distrusts_; }
  void look_at_once() { engine_->look_at_once(); }
  [[nodiscard]] bool was_removed(std::uint64_t incarnation) const;
  void lost(std::uint32_t node);
  /// It believes that the node is lost, which is wrong.
  void believe_lost(std::uint32_t node);
  void connected(std::uint32_t node, std::uint64_t incarnation);

  [[nodiscard]] const ViewMember& self() const { return self_; }
  [[nodiscard]] std::uint32_t number() const { return self_.slot.value; }  ///< in world and net
  [[nodiscard]] const std::string& name() const { return plan_.rows.names[self_.slot]; }
  [[nodiscard]] const View& view() const { return engine_->view(); }
  [[nodiscard]] bool changing() const { return engine_->membership().changing(); }
  [[nodiscard]] bool may_have_created() const { return engine_->membership().may_have_created(); }
  /// The view that the application is in: view() or an earlier one.
  [[nodiscard]] const View& told_view() const { return told_; }
  [[nodiscard]] std::uint64_t told_at_ns() const { return told_at_ns_; }
  /// The last view for which on_view is due; it is called later if the member takes a state first.
  [[nodiscard]] std::uint64_t announced_view() const { return announced_view_; }
  /// Records how many posts it made in a quiet time, without those of the membership.
  void note_data_posts(std::uint64_t count);
  /// Records what it uses in a quiet time: no more than a member of its view needs (B1).
  void note_use();
  /// Deliveries may still read the row of a node that was there, and is in no view any more.
  [[nodiscard]] bool reads(std::uint32_t node) const { return engine_->is_parting(Slot{node}); }
  /// The views that the protocol entered, and when.
  [[nodiscard]] const std::vector<Entered>& entries() const { return entries_; }
  [[nodiscard]] bool drained() const { return fabric_->drained(); }
  [[nodiscard]] std::optional<StopReason> stopped() const;
  [[nodiscard]] std::uint64_t next_step_ns() const;
  [[nodiscard]] bool idle() const;  ///< it has delivered all that it sent
  /// What the application has asked for and has not been given so far; empty if nothing.
  [[nodiscard]] std::string unanswered() const;
  /// A group whose ticks have stopped for so long; empty if there is none.
  [[nodiscard]] std::string lacks_ticks(std::uint64_t for_ns) const;
  /// The number of members of the view that it decided last.
  [[nodiscard]] std::size_t next_size() const { return next_size_; }
  /// How many decisions it has made or heard of.
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  /// When it asked in its row; before that it waits until no member needs it.
  [[nodiscard]] std::optional<std::uint64_t> asked_to_leave_ns() const { return asked_ns_; }
  /// It joined, and both givers of the state are gone.
  [[nodiscard]] bool lost_state() const { return engine_->states().taking() == Taking::lost; }
  /// When it learned last that it is connected to the other.
  [[nodiscard]] std::optional<std::uint64_t> connected_ns(const ViewMember& other) const;
  [[nodiscard]] Progress progress();
  [[nodiscard]] bool suspected_any() const { return !suspicions_.empty(); }
  [[nodiscard]] const std::vector<Suspicion>& suspicions() const { return suspicions_; }
  /// What a group's application has taken so far.
  [[nodiscard]] const AppState& state(std::size_t group) const { return seats_[group].state; }
  [[nodiscard]] bool is_in(std::size_t group) const { return seats_[group].is_member; }
  [[nodiscard]] const Wishing& wishing() const { return wishing_; }
  /// Its last ticket in the group, and the last ticket of another that it delivered.
  [[nodiscard]] std::uint64_t last_sent(std::size_t group) const { return seats_[group].last_sent; }
  [[nodiscard]] std::uint64_t last_ticket(std::size_t group, const ViewMember& sender) const;
  [[nodiscard]] std::uint64_t messages_sent() const;
  [[nodiscard]] const history::Recorder& recorder() const { return *recorder_; }
  /// A hash of its events so far.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  /// What is wrong with its deliveries; empty if nothing.
  [[nodiscard]] const std::string& finding() const { return finding_; }

 private:
  static constexpr std::uint64_t kNever = ~0ULL;
  // EngineEvents.
  using EngineEvents::lost;  // called by the world, not by a fabric
  void suspected(const ViewMember& member) override;
  void wedged(WedgeReason reason, const ViewMember& joiner) override;
  void decided(const Proposal& proposal) override;
  void entered(const Entry& entry) override;
  void stopped(StopReason reason) override;
  void ticked(std::size_t group, const PutTick& tick) override;
  [[nodiscard]] DeliveryCallback joins(std::size_t group, const OpenGroup& open) override;
  void let_go(Slot slot) override;
  void silent(Slot slot) override;
  void distrusted(Slot slot, const std::string& what) override;
  bool stepped() override;
  void reached(const Entry& entry) override;
  void asks_to_leave() override;
  // Its history has it since reached().
  void tell(const Entry& entry) override { announced_view_ = entry.view.id; }
  void no_state(const Error& why) override;
  [[nodiscard]] std::vector<GroupState> group_states();
  bool work_on_states();
  [[nodiscard]] Result<void> save(std::uint16_t group, const StateSink& write);
  [[nodiscard]] Result<ReadSnapshot> take_snapshot(std::uint16_t group);
  [[nodiscard]] Result<void> load(std::uint16_t group, const StatePiece& piece);
  [[nodiscard]] bool delivered_all() const;
  [[nodiscard]] bool delivered_up_to_cut() const;
  void follow_end();
  void heed_trials();
  void note_writes();
  void take_seat(std::uint16_t group);
  void record_group(std::uint16_t group, const View& view);
  void record_open_group(const OpenGroup& open, const View& view);
  void change_groups();
  void leave_groups();
  void wish_for(const GroupWish& wish);
  void commit(const Claim& claim);
  void end_claims();
  void check_aligned(std::uint16_t group, const std::byte* data);
  void take_handlers(std::uint16_t group);
  void wake_handlers(bool over);
  [[nodiscard]] std::vector<LogSink*> take_logs();
  [[nodiscard]] ViewLog* take_view_log();
  void check_disks();
  [[nodiscard]] RequestEvents* take_requests();
  void follow_requests();
  bool turn_requests();
  bool calls_instead();
  void call_barrier(std::uint16_t group, SendRing& ring);
  void pass_barriers(std::uint16_t group);
  void deliver(std::uint16_t group, std::span<const Message> batch);
  void deliver_tick(std::uint16_t group, const Message& message, const ViewMember& clock);
  void linger(std::uint16_t group, std::span<const Message> batch);
  void look_again(std::uint16_t group, std::span<const Message> batch,
                  std::span<const std::uint32_t> crcs);
  bool turn_delivery(std::uint16_t group);
  void note_rounds(std::uint16_t group);
  [[nodiscard]] std::uint64_t round_of(std::uint16_t group, const ViewMember& sender,
                                       std::uint64_t ticket);
  void record(const history::Event& event);
  void note_accepted(std::uint64_t view);
  void note_frozen();
  void note_pieces();
  void check_frozen();
  void check_stable();
  void check_violations();
  void check_tokens();
  [[nodiscard]] bool is_frozen() const;
  [[nodiscard]] history::Event event(history::EventKind kind) const;
  [[nodiscard]] std::uint64_t view_id() const { return engine_ ? view().id : 0; }
  [[nodiscard]] history::At told_at(std::uint16_t group) const;

  const Plan& plan_;
  const ViewMember self_;
  Net& net_;
  Prng random_;
  Wishing wishing_;
  std::unique_ptr<history::Recorder> recorder_;
  Row row_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<Seat> seats_;
  std::vector<Claim> claims_;  // open
  std::unique_ptr<StateJobs> jobs_;
  std::unique_ptr<AppRequests> requests_;  // only where there are any
  std::unique_ptr<Engine<Memory>> engine_;
  std::uint64_t state_job_ns_ = kNever;  // when the oldest job is done
  std::vector<std::byte> loaded_;        // of a state, so far
  std::uint64_t hash_ = 0;
  std::string finding_;
  std::uint64_t decisions_ = 0;
  std::size_t next_size_ = 0;
  std::vector<Suspicion> suspicions_;
  IndexedBy<Slot, std::uint64_t> lost_ns_;  // when it heard so last
  std::uint64_t wedged_ns_ = 0;             // in this view
  bool finished_ = false;
  bool rests_ = false;
  bool ended_then_ = false;
  bool distrusts_ = false;
  std::optional<std::uint64_t> ended_ns_;
  std::optional<std::uint64_t> asked_ns_;
  std::vector<Connection> connections_;
  std::vector<Connection> on_trial_;
  std::vector<Entered> entries_;
  std::uint64_t pieces_ = 0;                           // that it has passed on in earlier views
  std::deque<std::vector<std::uint64_t>> first_seqs_;  // by group, of views not yet told
  View told_;
  std::uint64_t told_at_ns_ = 0;
  std::uint64_t announced_view_ = 0;
  std::uint64_t view_before_ = 0;  // the present or last pass
  std::uint64_t accepted_view_ = 0;
  std::uint64_t accepted_ = 0;               // its word of that view
  std::uint64_t frozen_view_ = 0;            // in which it has wedged
  std::vector<std::uint64_t> frozen_words_;  // of the groups: what must not grow then
  bool in_callback_ = false;  // of the predicate thread's, while others pass instead (T1)
  bool died_ = false;         // in the middle of a callback
  std::uint64_t stuck_until_ns_ = 0;
  std::uint64_t threads_stuck_until_ns_ = 0;
};

}  // namespace tutti::sim
