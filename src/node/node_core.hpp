/// \file node_core.hpp
/// What stands behind a Node: its incarnation and the thread that drives it, those that wait for
/// it, and how it starts and ends.
///
/// Invariants: T1 the predicate loop is turned by one thread at a time, which has the baton: the
/// node's own, or whoever calls poll(). While that thread is in a call of the application that it
/// makes from a pass, the stand-in may have the baton: a second thread that does all of a pass but
/// calls of the application, so that this member goes on answering the others. T2 a failure is kept
/// for good, the first one counts; after it nothing is delivered. T3 while the loop's thread
/// sleeps, GroupCore::notify_work() wakes it: the thread raises RowHeader::asleep before its last
/// look, the notifier reads it after its change (an AsymmetricFence in between). T4 once the node
/// ends, no call of the application begins; the loop is turned until none reads messages any more,
/// and the others are asked to go on without this member meanwhile. T5 see node_life.hpp.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/asymmetric_fence.hpp"
#include "base/counter.hpp"
#include "base/unique_fd.hpp"
#include "node/baton.hpp"
#include "node/call_watch.hpp"
#include "node/callbacks.hpp"
#include "node/group_core.hpp"
#include "node/incarnation.hpp"
#include "node/joined_groups.hpp"
#include "node/node_counters.hpp"
#include "node/node_disk.hpp"
#include "node/node_life.hpp"
#include "node/node_watchers.hpp"
#include "node/requests_core.hpp"
#include "predicates/idle_policy.hpp"
#include "tutti/node.hpp"

namespace tutti {

class NodeCore final : public std::enable_shared_from_this<NodeCore>, private IncarnationEvents {
 public:
  explicit NodeCore(NodeOptions options);
  ~NodeCore() override;

  // Node's side of things, see node.hpp.
  [[nodiscard]] Result<GroupCore*> join(GroupOptions options);
  [[nodiscard]] JoinedGroups& joined() { return joined_; }
  [[nodiscard]] Result<void> watch_views(ViewCallback watcher);
  [[nodiscard]] Result<void> watch_end(std::function<void()> watcher);
  [[nodiscard]] const NodeOptions& options() const { return options_; }
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<int> begin_start();
  [[nodiscard]] std::optional<Result<void>> started() const;
  std::size_t poll();
  void wait(std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> stop(std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> leave(std::chrono::nanoseconds timeout);
  [[nodiscard]] ViewChange view() const;
  [[nodiscard]] std::optional<Error> failure() const;
  [[nodiscard]] NodeStatistics statistics() const;
  [[nodiscard]] RequestsCore& requests() { return requests_; }

  /// The Node is gone: ends all it has and drops the callbacks. Inside a callback another thread
  /// does so, once that has returned. Handles and claims that are there keep the memory.
  static void end(std::shared_ptr<NodeCore> core) noexcept;

  // For the groups.
  [[nodiscard]] std::vector<const GroupOptions*> declared() const;  ///< before start
  [[nodiscard]] bool is_declared() const;  ///< groups may be joined, and it may be started
  [[nodiscard]] std::vector<MemberLag> lags(const GroupCore& group) const;
  [[nodiscard]] Signal& changed() { return changed_; }
  [[nodiscard]] bool failed() const override { return failed_.load(std::memory_order_acquire); }
  [[nodiscard]] const Callbacks& callbacks() const { return callbacks_; }  ///< for marks
  /// Why `call`, which waits, must not do so on this thread: a callback of this node runs on it.
  [[nodiscard]] std::optional<Error> refusal_here(std::string_view call) const;
  /// Why nothing more comes of the groups; nothing while they go on, or have not begun.
  [[nodiscard]] std::optional<Error> why_over() const;
  [[nodiscard]] bool in_view() const { return life_.in_view(); }
  void log(LogLevel level, std::string_view text) const;
  void replay_failed(const GroupCore& group, const Error& why);
  /// A claim on one of the groups has ended after the Node (node_end.cpp).
  void late_claim_ended() noexcept;
  /// One of the threads that call the application beside the predicate thread has done its last.
  void calls_ended() override { changed_.notify(); }
  /// Wakes the predicate thread, once per sleep (T3).
  void ring_own_doorbell() noexcept;
  /// The same if it sleeps, after a change that it is to see. In a view.
  void notify_work() noexcept;
  /// Waits on `signal` until `ready()`, a failure or the deadline: turns the loop itself with
  /// Drive::caller. True if ready, which is asked no more once it has said so. Inside a callback of
  /// this node it does not wait.
  bool wait_until(Signal& signal, const std::function<bool()>& ready, const Deadline& deadline);

 private:
  // A lost doorbell delays by this much, it never stalls (V5).
  static constexpr std::chrono::milliseconds kLongestSleep{100};
  static constexpr std::chrono::milliseconds kLeavingSleep{1};  // acknowledgements wake nobody
  static constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();
  // node_begin.cpp
  void tell_started(const Result<void>& result);
  bool await_start(const std::function<bool()>& ready, const Deadline& deadline);
  void turn_for_start();
  void end_begun_start();
  /// Drive::caller: the start turns nothing, poll() does.
  [[nodiscard]] bool polls_start() const;
  // node_start.cpp
  [[nodiscard]] Result<void> may_start(std::string_view call) const;
  [[nodiscard]] Result<void> run_start();
  [[nodiscard]] Result<void> start_now();
  [[nodiscard]] Result<void> try_start(const Deadline& deadline);
  [[nodiscard]] Result<void> open_disk();
  [[nodiscard]] Result<std::unique_ptr<Incarnation>> open_incarnation();
  [[nodiscard]] Result<void> start_threads();
  [[nodiscard]] std::optional<Error> why_start_ended() const;
  [[nodiscard]] Error why_not_started() const;
  [[nodiscard]] std::string why_not_agreed() const;
  [[nodiscard]] bool is_unfounded() const;
  [[nodiscard]] bool gives_way() const;
  [[nodiscard]] bool is_start_ended() const { return start_ended_.load(std::memory_order_acquire); }
  Error abandon_start();
  void installed(const ViewChange& change) override;
  DeliveryCallback joins(const OpenGroup& open, std::uint64_t view, CallMark& call) override;
  [[nodiscard]] std::vector<std::shared_ptr<GroupCore>> cores() const;
  [[nodiscard]] bool replays(std::size_t group, bool joined) const;
  [[nodiscard]] FromLog from_log(std::size_t group, bool joined);
  void ended(StopReason reason) override;
  void no_state(const Error& why) override;
  void distrusted(const Error& why) override;
  void lend() override;
  void take_back() override;
  void delivery_may_move(std::size_t group) override;
  [[nodiscard]] std::string why_minority(const std::string& view) const;
  [[nodiscard]] std::string why_evicted(const std::string& view) const;
  // node_core.cpp
  void run();
  std::size_t turn();
  std::size_t pass(Calls calls);
  void show_failure();
  bool wait_turning(const std::function<bool()>& ready, const Deadline& deadline);
  bool wait_beside(Signal& signal, const std::function<bool()>& ready, const Deadline& deadline);
  void idle(IdlePolicy& policy, std::chrono::nanoseconds longest);
  std::size_t doze(std::chrono::nanoseconds timeout);
  bool stays_awake(IdlePolicy& policy, std::size_t work) const;
  void save_counters();
  void note_turn(std::uint64_t since_ns);
  void rise();
  void check_groups();
  void heed_notice(bool idle);
  bool fail_with(const Error& error);
  void halt_groups();
  /// Runs, and has not begun to end.
  [[nodiscard]] bool takes_part() const { return life_.is_open() && !life_.ends(); }
  // node_stand_in.cpp
  void stand_by();
  void stand_in();
  [[nodiscard]] CallWatch watch_of_calls() const;
  void watch_calls(std::uint64_t now_ns);
  [[nodiscard]] std::chrono::nanoseconds look_every() const;
  // node_end.cpp
  [[nodiscard]] bool refuses_turn(std::string_view call);
  [[nodiscard]] Result<void> finish_by(Ending how, const Deadline& deadline);
  [[nodiscard]] bool end_start(const Deadline& deadline);
  [[nodiscard]] Result<void> go_on_ending(const Deadline& deadline);
  [[nodiscard]] Error why_not_finished() const;
  [[nodiscard]] std::string what_still_runs() const;
  [[nodiscard]] bool ends() const override { return life_.ends(); }
  void part_from_others();
  [[nodiscard]] bool may_end() const;
  [[nodiscard]] bool has_said_all() const;
  [[nodiscard]] bool has_turned_last() const;
  void end_calls();
  [[nodiscard]] bool gives_up(const Deadline& deadline) const;
  [[nodiscard]] bool lock_turning(std::unique_lock<std::mutex>& lock,
                                  const std::function<bool()>& gives_up) const;
  [[nodiscard]] bool await_last_turn(const Deadline& deadline);
  [[nodiscard]] bool await_end_of(const std::function<bool()>& is_over, const Deadline& deadline);
  void hang_up();
  void dismiss_stand_in();
  void quit();
  [[nodiscard]] bool close(const Deadline& deadline);
  void shut_down();
  void keep_for_claims();

  Callbacks callbacks_;
  const NodeOptions options_;
  NodeWatchers watchers_;
  RequestsCore requests_;
  std::vector<GroupOptions> group_options_;         // by name
  std::unique_ptr<NodeDisk> disk_;                  // from start on, if a group is logged
  std::unique_ptr<Incarnation> incarnation_;        // from start on; has what the groups point to
  std::vector<std::unique_ptr<GroupCore>> groups_;  // by name; joined before start
  JoinedGroups joined_{*this, callbacks_};          // at run time
  NodeLife life_;                                   // T5. A flag below may be true in any phase.
  std::thread thread_;
  std::atomic<bool> run_ended_{false};  // the node's own thread has
  Baton baton_;                         // T1; Drive::caller: nobody else takes it
  std::thread stand_in_;                // Drive::own_thread
  bool standing_in_ = false;            // the stand-in has the baton
  bool armed_ = false;                  // the fabric is
  std::atomic<bool> dismissed_{false};
  Signal dismissal_;                // of the stand-in
  CallMark view_call_;              // of on_view
  std::optional<CallWatch> watch_;  // the stand-in's, or, with Drive::caller, of who turns
  std::uint64_t next_watch_ns_ = 0;
  std::uint64_t late_told_ns_ = 0;   // that poll() came late
  std::mutex starting_;              // held by start(): a callback may destroy the node meanwhile
  std::atomic<bool> starts_{false};  // start() is under way
  std::atomic<bool> start_ended_{false};  // by a thread that stops the node before it is in a view
  std::atomic<bool> begun_{false};        // the start has a thread of its own
  std::thread starter_;                   // that thread
  UniqueFd start_over_;                   // readable once it has ended
  mutable std::mutex started_mutex_;
  std::optional<Result<void>> started_;  // how it has ended
  std::mutex turning_;  // T1 with Drive::caller; and of two that close, one waits for the other
  std::atomic<bool> destroyed_{false};     // the Node
  std::atomic<bool> turn_refused_{false};  // and said so
  std::atomic<std::uint64_t> late_claims_{0};
  std::shared_ptr<NodeCore> kept_;  // by itself, for these
  // The next incarnation of this start may found a group, or else only join one.
  std::atomic<bool> may_create_;
  std::atomic<bool> agreed_to_found_{false};
  std::atomic<Ending> ending_{Ending::none};  // what stop() or leave() waits for
  std::atomic<bool> left_{false};             // the others let it go; it may be closed long since
  AsymmetricFence fence_;
  Signal changed_;  // a group completed, the fabric drained, a failure
  std::atomic<std::uint64_t> rung_{0};
  Counter sleeps_;
  std::size_t groups_complete_ = 0;
  bool hung_up_ = false;                  // it ends or has failed, in a view or before any
  bool out_of_memory_ = false;            // in a pass: its incarnation is not passed any more
  bool asks_to_go_ = false;               // because it ends
  std::atomic<bool> awaits_disk_{false};  // to end
  bool shown_stopped_ = false;
  std::optional<Error> notice_;  // of the bootstrap
  bool counters_stale_ = false;
  NodeCounters counters_;
  IdlePolicy caller_idle_;
  std::atomic<bool> failed_{false};
  mutable std::mutex failure_mutex_;
  std::optional<Error> failure_;
  mutable std::mutex view_mutex_;
  ViewChange view_;
};

}  // namespace tutti
