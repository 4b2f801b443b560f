#include "node/completions.hpp"

#include <sched.h>

#include <new>
#include <utility>
#include <variant>

#include "base/start_thread.hpp"
#include "node/clock.hpp"
#include "node/node_core.hpp"

namespace tutti {

Completions::Completions(NodeCore& node, GroupCore& group, Signal& progress)
    : node_(node),
      group_(group),
      progress_(progress),
      name_("a completion handler of group '" + group.options().name + "'") {}

Result<void> Completions::wait(Ticket ticket, DeliveredHandler handler) {
  return accept([&] { queue_.add(ticket, std::move(handler)); });
}

Result<void> Completions::claim(std::uint32_t size, SpaceHandler handler) {
  return accept([&] { queue_.add(size, std::move(handler)); });
}

template <class Put>
Result<void> Completions::accept(const Put& put) {
  {
    const std::lock_guard lock(mutex_);
    if (std::optional<Error> over = group_.why_over()) return std::unexpected(std::move(*over));
    if (queue_.is_closed()) {  // why_over() says so soon
      return fail(ErrorCode::stopped, "group '" + group_.options().name +
                                          "': its node ends, and calls no more handlers");
    }
    if (!thread_.joinable()) {
      ended_.store(false, std::memory_order_relaxed);
      Result<std::thread> thread = start_thread("the thread of " + name_, [this] { run(); });
      if (!thread) {
        ended_.store(true, std::memory_order_release);
        return std::unexpected(std::move(thread.error()));
      }
      thread_ = std::move(*thread);
    }
    put();
  }
  asked_.notify();
  progress_.notify();
  return {};
}

void Completions::end() {
  {
    const std::lock_guard lock(mutex_);
    queue_.close();
  }
  asked_.notify();
  progress_.notify();
}

void Completions::join() {
  if (thread_.joinable()) thread_.join();
}

// What a handler refers to goes with it, while it counts as running.
void Completions::call(Queue::Due due) {
  call_->begin();
  node_.callbacks().call(name_, [&] {
    std::visit([](auto& one) { std::exchange(one.handler, {})(std::move(one.outcome)); }, due);
  });
  call_->end();
}

// Calls one that is due, if any is.
CompletionTurn Completions::look() {
  std::optional<Queue::Due> due;
  {
    const std::lock_guard lock(mutex_);
    const std::optional<Error> over = group_.why_over();
    due = over ? queue_.refuse(group_, *over) : queue_.take(group_);
    if (!due) return over ? CompletionTurn::never : queue_.waits_for();
  }
  call(std::move(*due));
  return CompletionTurn::again;
}

// One look; then it waits if there was nothing to do. False at the end.
bool Completions::goes_on(IdlePolicy& policy) {
  const CompletionTurn turn = look();
  if (turn == CompletionTurn::again) policy.worked();
  if (turn == CompletionTurn::again || turn == CompletionTurn::never) {
    return turn != CompletionTurn::never;
  }
  // While nothing is asked for it need not be quick.
  if (turn == CompletionTurn::once_moved && policy.next(now_ns()) != IdleAction::sleep) {
    sched_yield();
    return true;
  }
  Signal& signal = turn == CompletionTurn::once_moved ? progress_ : asked_;
  const std::uint32_t seen = signal.prepare();
  const CompletionTurn now = look();
  if (now == turn) {
    signal.wait(seen, std::chrono::seconds(1));
  } else {
    signal.cancel();
  }
  return now != CompletionTurn::never;
}

void Completions::run() {
  IdlePolicy policy(node_.options().idle);
  const auto look = [&] {
    try {
      return goes_on(policy);
    } catch (const std::bad_alloc&) {  // nothing is lost: what is next is looked at again
      node_.callbacks().call(name_, [] { throw; });
      return true;
    }
  };
  while (look()) {
  }
  ended_.store(true, std::memory_order_release);
  node_.calls_ended();
}

}  // namespace tutti
