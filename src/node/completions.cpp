#include "node/completions.hpp"

#include <sched.h>

#include <new>
#include <utility>

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
  return accept([&] { tickets_.emplace(ticket.value, std::move(handler)); });
}

Result<void> Completions::claim(std::uint32_t size, SpaceHandler handler) {
  return accept([&] { spaces_.push_back({.size = size, .handler = std::move(handler)}); });
}

template <class Put>
Result<void> Completions::accept(const Put& put) {
  {
    const std::lock_guard lock(mutex_);
    if (std::optional<Error> over = node_.why_over()) return std::unexpected(std::move(*over));
    if (closed_) {  // why_over() says so soon
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
    closed_ = true;
  }
  asked_.notify();
  progress_.notify();
}

void Completions::join() {
  if (thread_.joinable()) thread_.join();
}

bool Completions::has_pending() {
  const std::lock_guard lock(mutex_);
  return !tickets_.empty() || !spaces_.empty();
}

// What a handler refers to goes with it, while it counts as running.
template <class Handler, class Outcome>
void Completions::call(Handler handler, Outcome outcome) {
  call_.begin();
  node_.callbacks().call(name_, [&] { std::exchange(handler, {})(std::move(outcome)); });
  call_.end();
}

// One that is due. False if none is.
bool Completions::call_next() {
  std::unique_lock lock(mutex_);
  if (!tickets_.empty() && group_.delivered(Ticket{tickets_.begin()->first})) {
    DeliveredHandler handler = std::move(tickets_.begin()->second);
    tickets_.erase(tickets_.begin());
    lock.unlock();
    call(std::move(handler), Result<void>());
    return true;
  }
  if (spaces_.empty()) return false;
  Result<Claim> claim = group_.claim_if_any(spaces_.front().size);
  if (claim && claim->outcome() == ClaimOutcome::full) return false;
  SpaceHandler handler = std::move(spaces_.front().handler);
  spaces_.pop_front();
  lock.unlock();
  call(std::move(handler), std::move(claim));
  return true;
}

// The group is over: one that can no longer be due. False if there is none, and none is accepted
// any more (CP1).
bool Completions::refuse_next(const Error& why) {
  std::unique_lock lock(mutex_);
  if (!tickets_.empty()) {
    Result<void> outcome;
    if (!group_.delivered(Ticket{tickets_.begin()->first})) outcome = std::unexpected(why);
    DeliveredHandler handler = std::move(tickets_.begin()->second);
    tickets_.erase(tickets_.begin());
    lock.unlock();
    call(std::move(handler), std::move(outcome));
    return true;
  }
  if (!spaces_.empty()) {
    Result<Claim> outcome = std::unexpected(why);
    SpaceHandler handler = std::move(spaces_.front().handler);
    spaces_.pop_front();
    lock.unlock();
    call(std::move(handler), std::move(outcome));
    return true;
  }
  closed_ = true;
  return false;
}

// One look; then it waits if there was nothing to do. False at the end.
bool Completions::goes_on(IdlePolicy& policy) {
  if (const std::optional<Error> over = node_.why_over()) return refuse_next(*over);
  if (call_next()) {
    policy.worked();
    return true;
  }
  const bool pending = has_pending();  // if not, it need not be quick
  if (pending && policy.next(now_ns()) != IdleAction::sleep) {
    sched_yield();
    return true;
  }
  Signal& signal = pending ? progress_ : asked_;
  const std::uint32_t seen = signal.prepare();
  if (call_next() || has_pending() != pending || node_.why_over()) {
    signal.cancel();
  } else {
    signal.wait(seen, std::chrono::seconds(1));
  }
  return true;
}

void Completions::run() {
  IdlePolicy policy(node_.idle_options());
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
