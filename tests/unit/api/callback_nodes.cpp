#include "callback_nodes.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tutti {

CallbackNode::CallbackNode(std::vector<MemberAddress> members, std::size_t member,
                           std::uint32_t founders, Threads threads, Hooks hooks)
    : threads_(threads), hooks_(std::move(hooks)) {
  NodeOptions options{.name = members[member].name,
                      .members = std::move(members),
                      .fabric = FabricChoice::shm,
                      .drive = threads.drive,
                      .start_timeout = kPatience,
                      .founders = founders,
                      .suspect_after = 20s};
  const std::shared_ptr<void> held(
      nullptr, [gone = gone_](void*) { gone->store(true, std::memory_order_release); });
  options.on_view = [this, held](const ViewChange& change) {
    if (hooks_.in_view) hooks_.in_view(change);
  };
  options.log = [this, held](LogLevel, std::string_view text) {
    {
      const std::lock_guard lock(mutex_);
      logged_.emplace_back(text);
    }
    if (hooks_.in_log) hooks_.in_log(text);
  };
  auto node = Node::create(std::move(options));
  EXPECT_TRUE(node) << node.error().message;
  node_ = std::move(*node);
  GroupOptions log = small_group(Level::atomic, threads.delivery);
  log.on_delivery = [this, held](std::span<const Message> batch) {
    delivered_ += batch.size();
    if (hooks_.in_delivery) hooks_.in_delivery();
  };
  log.stateful = true;
  log.save_state = [this, held](const StateSink&) -> Result<void> {
    if (hooks_.in_save) hooks_.in_save();
    return {};
  };
  log.load_state = [this, held](const StatePiece&) -> Result<void> {
    if (hooks_.in_load) hooks_.in_load();
    return {};
  };
  if (hooks_.in_read) {
    log.save_state = nullptr;
    log.snapshot = [this, held]() -> Result<ReadSnapshot> {
      return [this, held](std::uint64_t, std::span<std::byte>) -> Result<std::size_t> {
        hooks_.in_read();
        return 0;
      };
    };
  }
  GroupOptions other = small_group();
  other.name = "other";
  for (const GroupOptions& group : {log, other}) {
    auto joined = node_->join(group);
    EXPECT_TRUE(joined) << joined.error().message;
    groups_.push_back(*joined);
  }
}

// The node first: its threads log to the end.
CallbackNode::~CallbackNode() { destroy(); }

Result<void> CallbackNode::start() {
  Result<void> started = node_->start();
  if (!started || threads_.drive != Drive::caller) return started;
  rests_ = false;
  const std::lock_guard lock(poller_mutex_);
  poller_ = std::thread([this] {
    while (!rests_.load()) {
      if (node_->poll() == 0 && !rests_.load()) node_->wait(1ms);
    }
  });
  return started;
}

void CallbackNode::rest() {
  rests_ = true;
  {
    const std::lock_guard lock(poller_mutex_);
    if (!poller_.joinable() || poller_.get_id() == std::this_thread::get_id()) return;
  }
  poller_.join();
}

Result<void> CallbackNode::stop() {
  rest();
  return node_->stop(kPatience);
}

void CallbackNode::destroy() {
  rest();
  node_.reset();
  groups_.clear();
}

std::vector<std::string> CallbackNode::logged() const {
  const std::lock_guard lock(mutex_);
  return logged_;
}

namespace {

template <class Act>
void at_once(const std::vector<CallbackNode*>& nodes, const Act& act) {
  std::vector<std::jthread> threads;
  threads.reserve(nodes.size());
  for (CallbackNode* node : nodes) {
    threads.emplace_back([&act, node] {
      const Result<void> done = act(*node);
      EXPECT_TRUE(done) << done.error().message;
    });
  }
}

}  // namespace

void start_all(const std::vector<CallbackNode*>& nodes) {
  at_once(nodes, [](CallbackNode& node) { return node.start(); });
}

void stop_all(const std::vector<CallbackNode*>& nodes) {
  at_once(nodes, [](CallbackNode& node) { return node.stop(); });
}

}  // namespace tutti
