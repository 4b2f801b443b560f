/// \file completions.hpp
/// What an application has asked to be called for, once: that a message of its own is delivered, or
/// that there is space for one.
///
/// Invariants:
///  CP1  A handler that was accepted is called exactly once; with an error once the group is over.
///  CP2  One thread calls them, one at a time: it begins with the first handler and ends when the
///       group is over. No other thread waits for it but those that end the node. Space is claimed
///       right before its handler is called, for what is committed behind a claim waits for it. So
///       a slow handler holds up other handlers alone.
///  CP3  Space is claimed for handlers in the order in which they asked for it.
///  CP4  While nothing is asked for, the thread waits for `asked_` alone: a pass of the predicate
///       loop wakes nobody.
/// Threads: wait(), claim() and the getters any; end() and join() the thread that ends the node.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

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

  /// That a handler runs, and what it is called.
  [[nodiscard]] const CallMark& call() const { return call_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Space {
    std::uint32_t size = 0;
    SpaceHandler handler;
  };

  template <class Put>
  [[nodiscard]] Result<void> accept(const Put& put);
  void run();
  [[nodiscard]] bool goes_on(IdlePolicy& policy);
  [[nodiscard]] bool has_pending();
  [[nodiscard]] bool call_next();
  [[nodiscard]] bool refuse_next(const Error& why);
  template <class Handler, class Outcome>
  void call(Handler handler, Outcome outcome);

  NodeCore& node_;
  GroupCore& group_;
  Signal& progress_;
  Signal asked_;  // there is a handler, or the end
  const std::string name_;
  CallMark call_;
  std::mutex mutex_;
  std::multimap<std::uint64_t, DeliveredHandler> tickets_;
  std::deque<Space> spaces_;
  bool closed_ = false;
  std::thread thread_;
  std::atomic<bool> ended_{true};
};

}  // namespace tutti
