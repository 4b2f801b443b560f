#include "joining.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "node.hpp"

namespace tutti::python {
namespace {

// JN2. What the others send until it is left is taken and dropped: they would wait for it.
template <class GoesOn>
void leave_unseen(Group group, const GoesOn& goes_on) {
  while (goes_on()) {
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
    leave_unseen(std::move(*got), [] { return true; });  // until the node is stopped (JN1)
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

// What is left of a node that is closed while threads join its groups.
struct Rest {
  void end() {
    static_cast<void>(node->stop(nanoseconds(0)));  // they return then
    joins->wait();
    node.reset();
  }
  Counted counted;
  std::unique_ptr<Node> node;
  std::shared_ptr<Joins> joins;
};

}  // namespace

void end_after_joins(std::unique_ptr<Node> node, std::shared_ptr<Joins> joins) {
  const auto rest = std::make_shared<Rest>();
  rest->node = std::move(node);
  rest->joins = std::move(joins);
  if (rest->node->may_wait("Node.close")) return rest->end();
  const auto ends = std::make_shared<EndsNode>();
  if (start_alone([rest, ends] { rest->end(); })) return;
  static_cast<void>(new std::shared_ptr<Rest>(rest));  // without a thread it stays in memory
}

Handover::~Handover() {
  const std::shared_ptr<Running> with = node_.lock();
  if (!group_ || with == nullptr) return;
  // Without a thread it is left when the node ends.
  static_cast<void>(start_alone([with, group = *group_] {
    Released::never_has_it();  // it may be the last that has the node
    leave_unseen(group, [&] { return !with->closing.load(std::memory_order_relaxed); });
  }));
}

Group join_while_running(const std::shared_ptr<Running>& with, GroupOptions options,
                         nanoseconds timeout) {
  or_raise(with->node.may_wait("Node.join"));  // asked on this thread
  const OfThisProcess here;
  auto joining = std::make_shared<Joining>();
  struct Settles {
    ~Settles() {
      if (here.is_here()) joining.settle(in_use);
    }
    Joining& joining;
    const OfThisProcess& here;
    bool in_use = false;
  };
  Settles settles{*joining, here};
  auto one = std::make_shared<Joins::One>(with->joins);
  // The node lives as long as `one`; `joining` has a group of it.
  or_raise(start_alone(
      [node = with->owned.get(), joining, one, options = std::move(options), timeout]() mutable {
        joining->run(*node, std::move(options), timeout);
        joining.reset();
        one.reset();
      }));
  for (;;) {
    here.must_be_here("node");  // a signal's handler may fork
    std::optional<Result<Group>> got = joining->fetch();
    if (!got) {
      check_signals();
      continue;
    }
    Group group = or_raise(std::move(*got));
    check_signals();
    settles.in_use = true;
    return group;
  }
}

}  // namespace tutti::python
