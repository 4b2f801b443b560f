/// \file callback_nodes.hpp
/// Nodes whose callbacks do what a test tells them, each driven by a thread of its own or by
/// polling, for the tests of what callbacks may do.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster.hpp"

namespace tutti {

/// How the node under test is driven and delivers.
struct Threads {
  Drive drive = Drive::own_thread;
  DeliveryThread delivery = DeliveryThread::predicate;
};

/// What a node's callbacks do besides their work. To be set before what makes them run.
struct Hooks {
  std::function<void()> in_delivery{};
  std::function<void(const ViewChange&)> in_view{};
  std::function<void()> in_save{};
  std::function<void()> in_load{};
  std::function<void()> in_read{};  ///< of a snapshot, which is then taken instead of a save
  std::function<void(std::string_view)> in_log{};
};

/// One node in two groups, "log" (stateful) and "other".
class CallbackNode {
 public:
  CallbackNode(std::vector<MemberAddress> members, std::size_t member, std::uint32_t founders,
               Threads threads, Hooks hooks);
  ~CallbackNode();

  /// Starts the node, and then a thread that polls it where that is needed.
  [[nodiscard]] Result<void> start();
  /// Ends the thread that polls; waits for it unless it is the one that calls.
  void rest();
  [[nodiscard]] Result<void> stop();
  /// Destroys the Node where this is called, and what else the test has of it.
  void destroy();

  [[nodiscard]] Node& node() { return *node_; }
  [[nodiscard]] Group& group(std::size_t index = 0) { return groups_[index]; }
  [[nodiscard]] std::size_t delivered() const { return delivered_.load(); }
  [[nodiscard]] std::vector<std::string> logged() const;
  /// The node and its callbacks are no more.
  [[nodiscard]] bool is_gone() const { return gone_->load(std::memory_order_acquire); }

 private:
  Threads threads_;
  Hooks hooks_;
  std::optional<Node> node_;
  std::vector<Group> groups_;
  // The last callback that goes stores it: what the callbacks did is seen by then.
  std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  std::atomic<std::size_t> delivered_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> logged_;
  std::atomic<bool> rests_{true};
  std::mutex poller_mutex_;  // whether it is there, and which it is
  std::thread poller_;
};

/// Starts them at the same time; fails the test if one does not start.
void start_all(const std::vector<CallbackNode*>& nodes);
/// The same for stop.
void stop_all(const std::vector<CallbackNode*>& nodes);

}  // namespace tutti
