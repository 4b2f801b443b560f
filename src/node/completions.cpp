#include "node/completions.hpp"

#include <sched.h>

#include <iterator>
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
    if (closed_)
      return fail(ErrorCode::stopped, "the node has stopped");  // as why_over() soon says
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

// The claims are made here, for what is asked for next must not overtake them (CP3).
Completions::Due Completions::take_due() {
  const std::lock_guard lock(mutex_);
  Due due;
  while (!tickets_.empty() && group_.delivered(Ticket{tickets_.begin()->first})) {
    due.delivered.push_back(std::move(tickets_.begin()->second));
    tickets_.erase(tickets_.begin());
  }
  while (!spaces_.empty()) {
    Result<Claim> claim = group_.claim_if_any(spaces_.front().size);
    if (claim && claim->outcome() == ClaimOutcome::full) break;
    due.spaces.emplace_back(std::move(spaces_.front().handler), std::move(claim));
    spaces_.pop_front();
  }
  return due;
}

// Whatever a handler refers to goes with it, while it counts as running.
void Completions::call(const std::function<void()>& handler) {
  call_.begin();
  node_.callbacks().call(name_, handler);
  call_.end();
}

void Completions::call_all(Due due) {
  for (DeliveredHandler& handler : due.delivered) {
    call([&] { std::exchange(handler, {})(Result<void>()); });
  }
  for (auto& [handler, claim] : due.spaces) {
    call([&, &told = handler, &space = claim] { std::exchange(told, {})(std::move(space)); });
  }
}

void Completions::refuse_all(const Error& why) {
  std::multimap<std::uint64_t, DeliveredHandler> tickets;
  std::deque<Space> spaces;
  {
    const std::lock_guard lock(mutex_);
    tickets.swap(tickets_);
    spaces.swap(spaces_);
    closed_ = true;  // CP1: nobody is left to call
  }
  for (auto& [ticket, handler] : tickets) {
    call([&, &told = handler] { std::exchange(told, {})(std::unexpected(why)); });
  }
  for (Space& space : spaces) {
    call([&] { std::exchange(space.handler, {})(std::unexpected(why)); });
  }
}

void Completions::run() {
  IdlePolicy policy(node_.idle_options());
  for (;;) {
    if (Due due = take_due(); !due.empty()) {
      policy.worked();
      call_all(std::move(due));
      continue;
    }
    if (const std::optional<Error> over = node_.why_over()) {
      refuse_all(*over);
      break;
    }
    const bool pending = has_pending();  // if not, it need not be quick
    if (pending && policy.next(now_ns()) != IdleAction::sleep) {
      sched_yield();
      continue;
    }
    Signal& signal = pending ? progress_ : asked_;
    const std::uint32_t seen = signal.prepare();
    Due due = take_due();
    if (!due.empty() || has_pending() != pending || node_.why_over()) {
      signal.cancel();
      call_all(std::move(due));
    } else {
      signal.wait(seen, std::chrono::seconds(1));
    }
  }
  ended_.store(true, std::memory_order_release);
  node_.calls_ended();
}

}  // namespace tutti
