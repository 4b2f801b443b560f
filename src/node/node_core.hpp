/// \file node_core.hpp
/// What stands behind a Node: the row's memory, the fabrics, the predicate loop and the thread that
/// drives it.
///
/// Invariants: T1 the predicate loop is turned by one thread at a time: the node's own, or whoever
/// calls poll(). T2 a failure is kept for good, the first one counts; after it nothing is
/// delivered. T3 while the loop's thread sleeps, GroupCore::notify_work() wakes it: the thread
/// raises RowHeader::asleep before its last look, the notifier reads it after its change (an
/// AsymmetricFence in between).
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/asymmetric_fence.hpp"
#include "base/counter.hpp"
#include "fabric/routed.hpp"
#include "fabric/segment.hpp"
#include "fabric/sleeper.hpp"
#include "node/group_core.hpp"
#include "predicates/idle_policy.hpp"
#include "predicates/predicate_loop.hpp"
#include "tutti/node.hpp"

namespace tutti {

struct Cluster;

class NodeCore {
 public:
  explicit NodeCore(NodeOptions options);
  ~NodeCore();

  // Node's side of things, see node.hpp.
  [[nodiscard]] Result<GroupCore*> join(GroupOptions options);
  [[nodiscard]] Result<void> start();
  std::size_t poll();
  void wait(std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> stop(std::chrono::nanoseconds timeout);
  [[nodiscard]] std::optional<Error> failure() const;
  [[nodiscard]] NodeStatistics statistics() const;

  // For the groups.
  [[nodiscard]] const Idle& idle_options() const { return options_.idle; }
  [[nodiscard]] Signal& changed() { return changed_; }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Wakes the predicate thread, once per sleep (T3).
  void ring_own_doorbell() noexcept;
  /// Waits on `signal` until `ready()`, a failure or the deadline: turns the loop itself with
  /// Drive::caller. True if ready.
  bool wait_until(Signal& signal, const std::function<bool()>& ready, const Deadline& deadline);

 private:
  // node_start.cpp
  [[nodiscard]] Result<void> build(Cluster cluster);
  [[nodiscard]] Result<void> build_fabric(Cluster& cluster);
  [[nodiscard]] Result<void> open_group(GroupCore& group, const Cluster& cluster);
  [[nodiscard]] std::uint32_t index_of(const std::string& member) const;
  // node_core.cpp
  void run();
  std::size_t turn();
  bool wait_turning(const std::function<bool()>& ready, const Deadline& deadline);
  void idle(IdlePolicy& policy, std::chrono::nanoseconds longest);
  bool doze(std::chrono::nanoseconds timeout);
  void save_counters();
  void close();
  void check_groups();
  void lost(const PeerLoss& loss);
  void suspect(Rank origin);
  [[nodiscard]] Rank origin_of(Rank peer) const;
  [[nodiscard]] bool left_in_order(Rank peer) const;
  bool fail_with(const Error& error);
  void halt_groups();
  [[nodiscard]] bool all_complete() const;

  const NodeOptions options_;
  std::uint32_t self_ = 0;
  std::vector<std::unique_ptr<GroupCore>> groups_;
  std::optional<Segment> row_;
  std::unique_ptr<Sleeper> sleeper_;
  std::unique_ptr<RoutedFabric> fabric_;
  std::unique_ptr<PredicateLoop> loop_;

  enum class State : std::uint8_t { created, running, stopped };
  std::atomic<State> state_{State::created};
  std::thread thread_;
  std::atomic<bool> quit_{false};
  std::atomic<bool> leaving_{false};  // stop() wants to know when all is drained
  std::atomic<bool> drained_{false};
  AsymmetricFence fence_;
  Signal changed_;  // a group completed, the fabric drained, a failure
  std::atomic<std::uint64_t> rung_{0};
  Counter sleeps_;
  std::size_t groups_complete_ = 0;
  bool counters_stale_ = false;
  std::array<std::atomic<std::uint64_t>, 4> fabric_counters_{};  // a copy other threads may read
  IdlePolicy caller_idle_;

  std::atomic<bool> failed_{false};
  mutable std::mutex failure_mutex_;
  std::optional<Error> failure_;
};

}  // namespace tutti
