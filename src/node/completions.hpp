/// \file completions.hpp
/// What an application has asked to be called for, once: that a message of its own is delivered, or
/// that there is space for one.
///
/// CompletionQueue says which handler is due, and what the thread waits for; here are the lock and
/// the thread. One thread calls the handlers, one at a time: it begins with the first handler and
/// ends when the group is over, or was left. No other thread waits for it but those that end the
/// node. So a slow handler holds up other handlers alone (CP2). While nothing is asked for, the
/// thread waits for `asked_` alone: a pass of the predicate loop wakes nobody (CP4).
/// Threads: wait(), claim() and the getters any; end() and join() the thread that ends the node, or
/// the predicate thread once the group was left.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/completion_queue.hpp"
#include "node/signal.hpp"
#include "node/slowness.hpp"
#include "predicates/idle_policy.hpp"
#include "tutti/group.hpp"

namespace tutti {

class GroupCore;
class NodeCore;

class Completions {
 public:
  /// `progress` is notified when something was delivered or released, and when the group is over.
  Completions(NodeCore& node, GroupCore& group, Signal& progress);
  ~Completions() { join(); }

  [[nodiscard]] Result<void> wait(Ticket ticket, DeliveredHandler handler);
  [[nodiscard]] Result<void> claim(std::uint32_t size, SpaceHandler handler);

  /// No handler is accepted from now on. The group is over.
  void end();
  /// The thread has made its last call, or there is none. After end().
  [[nodiscard]] bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  void join();

  /// That a handler runs, also for who watches it when this is gone; and what it is called.
  [[nodiscard]] std::shared_ptr<const CallMark> call() const { return call_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  using Queue = CompletionQueue<DeliveredHandler, SpaceHandler, Claim>;

  template <class Put>
  [[nodiscard]] Result<void> accept(const Put& put);
  void run();
  [[nodiscard]] bool goes_on(IdlePolicy& policy);
  [[nodiscard]] CompletionTurn look();
  void call(Queue::Due due);

  NodeCore& node_;
  GroupCore& group_;
  Signal& progress_;
  Signal asked_;  // there is a handler, or the end
  const std::string name_;
  const std::shared_ptr<CallMark> call_ = std::make_shared<CallMark>();
  std::mutex mutex_;
  Queue queue_;
  std::thread thread_;
  std::atomic<bool> ended_{true};
};

}  // namespace tutti
