#include "joining.hpp"

#include <optional>
#include <utility>

namespace tutti::python {
namespace {

// JN2. What the others send until it is left is taken and dropped: they would wait for it.
void leave_unseen(Group group) {
  for (;;) {
    const Result<void> left = group.leave(kSlice);
    if (left || left.error().code != ErrorCode::timed_out) return;
    for (;;) {
      const Result<Batch> batch = group.take();
      if (!batch || batch->empty()) break;
    }
  }
}

/// One join: its thread and the one that waits for it share this.
class Joining {
 public:
  /// The thread of the join. Returns once the group is in use, or was left, or there is none.
  void run(Node& node, GroupOptions options, nanoseconds timeout) {
    Result<Group> got = node.join(std::move(options), timeout);
    std::unique_lock lock(mutex_);
    got_ = got;
    changed_.notify_all();
    if (!got) return;
    changed_.wait(lock, [&] { return settled_; });
    if (in_use_) return;
    lock.unlock();
    leave_unseen(std::move(*got));
  }

  /// The other thread, with the GIL: the outcome, or empty after a slice.
  [[nodiscard]] std::optional<Result<Group>> fetch() {
    const Released released;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kSlice, [&] { return got_.has_value(); });
    return got_;
  }
  void settle(bool in_use) {
    const std::lock_guard lock(mutex_);
    settled_ = true;
    in_use_ = in_use;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<Group>> got_;
  bool settled_ = false;  // the waiting thread has the group, or wants it no more
  bool in_use_ = false;
};

}  // namespace

Group join_while_running(Node& node, const std::shared_ptr<Joins>& joins, GroupOptions options,
                         nanoseconds timeout) {
  or_raise(node.may_wait("Node.join"));  // asked on this thread
  const auto joining = std::make_shared<Joining>();
  struct Settles {
    Joining& joining;
    bool in_use = false;
    ~Settles() { joining.settle(in_use); }
  };
  Settles settles{*joining};
  const auto one = std::make_shared<Joins::One>(joins);
  or_raise(start_alone([&node, joining, one, options = std::move(options), timeout]() mutable {
    joining->run(node, std::move(options), timeout);
  }));
  for (;;) {
    std::optional<Result<Group>> got = joining->fetch();
    if (!got) {
      check_signals();
      continue;
    }
    Group group = or_raise(std::move(*got));
    settles.in_use = true;
    return group;
  }
}

}  // namespace tutti::python
