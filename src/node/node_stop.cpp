// How a node stops or leaves, and what it does while a callback keeps it from that (T4).
#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "node/clock.hpp"
#include "node/node_core.hpp"

namespace tutti {

Result<void> NodeCore::stop(std::chrono::nanoseconds timeout) {
  if (std::optional<Error> refusal = refusal_here("Node::stop")) return std::unexpected(*refusal);
  return finish_by(Ending::stops, Deadline(timeout));
}

Result<void> NodeCore::leave(std::chrono::nanoseconds timeout) {
  if (std::optional<Error> refusal = refusal_here("Node::leave")) return std::unexpected(*refusal);
  return finish_by(Ending::leaves, Deadline(timeout));
}

// The engine says when this member has ended (P2). A member that leaves may end like one that
// stops: if all end together, nobody may be there any more to let it go. Once all was delivered,
// the last words alone are waited for, until the deadline.
Result<void> NodeCore::finish_by(Ending how, const Deadline& deadline) {
  // A start that begins in between is ended as well: what has no view has nothing that could end.
  do {
    if (!life_.in_view() && !end_start(deadline)) {
      return fail(ErrorCode::timed_out, "start() of member '" + options_.name +
                                            "' has not returned before the deadline; it will "
                                            "soon, then stop or leave again");
    }
    if (life_.phase() == Phase::created) return {};  // a start that comes later is none of ours
  } while (takes_part() && !life_.in_view());
  if (!takes_part()) return go_on_ending(deadline);
  joined_.end();
  for (const auto& group : cores()) group->finish();
  Ending before = ending_.load(std::memory_order_relaxed);
  while (before < how && !ending_.compare_exchange_weak(before, how, std::memory_order_release)) {
  }
  const auto is_over = [this] {
    return left_.load(std::memory_order_acquire) || incarnation_->was_complete();
  };
  static_cast<void>(is_over());  // the engine keeps it: a view with new nodes may be about to begin
  incarnation_->sleeper().wake();
  const auto said_all = [this] {
    for (const auto& group : cores()) group->pass_nulls();
    return life_.course() == Course::said_all;
  };
  // Another thread that ends the node may have done all of it.
  const bool done = wait_until(changed_, said_all, deadline) || is_over();
  // A failure since then costs nobody anything, but for what is not in the logs.
  if (done && close(deadline)) {
    return disk_ != nullptr ? disk_->outcome() : Result<void>{};
  }
  const Result<void> ended = go_on_ending(deadline);
  if (done || !ended) return ended;
  return std::unexpected(why_not_finished());
}

// A node that starts has nothing yet that could be ended: its start takes that back by itself (T5).
// False if start() has not returned by the deadline.
bool NodeCore::end_start(const Deadline& deadline) {
  if (!starts_.load(std::memory_order_acquire)) return true;
  start_ended_.store(true, std::memory_order_release);
  changed_.notify();
  while (starts_.load(std::memory_order_acquire)) {
    turn_for_start();
    const std::uint64_t now = now_ns();
    if (deadline.passed(now)) return false;
    const std::chrono::nanoseconds longest = polls_start() ? kLeavingSleep : kLongestSleep;
    const std::uint32_t seen = changed_.prepare();
    if (starts_.load(std::memory_order_acquire)) {
      changed_.wait(seen, std::min<std::chrono::nanoseconds>(deadline.left(now), longest));
    } else {
      changed_.cancel();
    }
  }
  return true;
}

// Also of a node that has stopped, or was never started. The failure is why it ended, if there is
// one.
Result<void> NodeCore::go_on_ending(const Deadline& deadline) {
  std::string callback;
  if (!close(deadline)) callback = what_still_runs() + " has not returned";
  if (std::optional<Error> failure = this->failure()) {
    if (!callback.empty()) failure->message += "; " + callback + ", and is waited for by ~Node";
    return std::unexpected(*failure);
  }
  if (callback.empty()) return {};
  return fail(ErrorCode::timed_out,
              callback + " before the deadline, so member '" + options_.name +
                  "' cannot end yet. It delivers nothing more, takes no messages, and asks "
                  "the others to go on without it. " +
                  (awaits_disk_ ? "Mend the disk" : "Let the callback return") +
                  "; then stop or leave again, or destroy the node, which waits for it");
}

std::string NodeCore::what_still_runs() const {
  std::string call = watch_of_calls().going_on();
  if (call.empty() && awaits_disk_) call = "a write to a log";
  return (call.empty() ? "a callback" : call) + " of node '" + options_.name + "'";
}

// After the last pass.
Error NodeCore::why_not_finished() const {
  std::string why = "not every member finished and delivered everything before the deadline";
  std::string takers;
  for (const std::string& name : incarnation_->takes_state()) {
    takers += (takers.empty() ? "'" : ", '") + name + "'";
  }
  if (!takers.empty()) {
    why += "; this member waited for " + takers +
           ", which joined, to take the group's state from here: see whether snapshot or "
           "save_state takes long here, or load_state there";
  }
  for (const auto& group : cores()) {
    if (!group->leaves_untaken()) continue;
    why += "; the application must take what is left of group '" + group->options().name +
           "' and release it: another thread meanwhile, or before this call";
  }
  return {ErrorCode::timed_out,
          why + "; left at once, the others will report member '" + options_.name + "' as lost"};
}

// The others learn at once that they must go on without us: if nothing reads in their rows, they
// lose us. A callback that runs reads there, and for how long nobody knows. Then they are asked to
// let us go: they do not wait for it, and leave what it reads in place for a while (J8). A node
// that has failed takes no part in that any more. A batch that the application holds is no reason
// to wait: it can ask whether that is intact.
void NodeCore::part_from_others() {
  const auto rests = [](const auto& group) { return group->rests(); };
  if (std::ranges::all_of(cores(), rests)) return hang_up();
  if (!failed() && !std::exchange(asks_to_go_, true)) incarnation_->leave();
}

void NodeCore::hang_up() {
  if (std::exchange(hung_up_, true)) return;
  if (disk_ != nullptr) disk_->quit();
  save_counters();
  incarnation_->hang_up(std::ranges::any_of(cores(), [](const auto& group) {
    return group->subgroup() != nullptr && !group->subgroup()->at_rest();
  }));
}

// The thread that turns. A start that is abandoned owes the others its last words alone.
bool NodeCore::may_end() const {
  if (life_.in_view()) return incarnation_->may_end();
  return life_.phase() == Phase::abandoned;
}

// The same, after a pass that did nothing. Once.
bool NodeCore::has_said_all() const {
  const Course course = life_.course();
  if (course == Course::said_all || course == Course::parted) return false;
  if (life_.in_view()) return incarnation_->has_ended();
  return life_.phase() == Phase::abandoned && incarnation_->fabric().drained();
}

// The thread that turns.
bool NodeCore::has_turned_last() const { return ends() && (hung_up_ || !life_.in_view()); }

// T4. Groups first: who sees that the node ends may part from the others.
void NodeCore::end_calls() {
  joined_.end();
  if (life_.in_view()) {
    for (const auto& group : cores()) group->end_calls();
  }
  life_.try_phase(Phase::closing);  // of several threads that end it, one does
  for (const auto& group : cores()) group->wake_waiters();
  watchers_.tell_end();
  requests_.wake();
  changed_.notify();
  incarnation_->sleeper().wake();
}

// Late, and because of a callback, or of a disk.
bool NodeCore::gives_up(const Deadline& deadline) const {
  return deadline.passed(now_ns()) && (awaits_disk_ || !watch_of_calls().going_on().empty());
}

// With Drive::caller, another thread may have it, in a callback. Not a std::timed_mutex: the thread
// sanitizer does not know what that waits with.
bool NodeCore::lock_turning(std::unique_lock<std::mutex>& lock,
                            const std::function<bool()>& gives_up) const {
  while (!lock.try_lock()) {
    if (gives_up()) return false;
    std::this_thread::sleep_for(kLeavingSleep);
  }
  return true;
}

// Of threads that notify changed_.
bool NodeCore::await_end_of(const std::function<bool()>& is_over, const Deadline& deadline) {
  while (!is_over()) {
    if (gives_up(deadline)) return false;
    const std::uint32_t seen = changed_.prepare();
    if (is_over()) {
      changed_.cancel();
    } else {
      const std::chrono::nanoseconds left = deadline.left(now_ns());
      changed_.wait(seen, std::clamp<std::chrono::nanoseconds>(left, kLeavingSleep, kLongestSleep));
    }
  }
  return true;
}

// With Drive::caller this thread turns.
bool NodeCore::await_last_turn(const Deadline& deadline) {
  if (thread_.joinable()) {
    return await_end_of([this] { return run_ended_.load(std::memory_order_acquire); }, deadline);
  }
  while (!has_turned_last()) {
    if (gives_up(deadline)) return false;
    doze(kLeavingSleep);
  }
  return true;
}

void NodeCore::dismiss_stand_in() {
  dismissed_.store(true, std::memory_order_release);
  dismissal_.notify();
  if (stand_in_.joinable()) stand_in_.join();
}

// Ends the thread that drives the node, of a start that is abandoned.
void NodeCore::quit() {
  life_.try_phase(Phase::quitting);  // unless another thread closes it
  incarnation_->sleeper().wake();
  if (thread_.joinable()) thread_.join();
  dismiss_stand_in();
}

// False if a callback has not returned by the deadline: then the threads do on their own what
// concerns the others, and another call goes on here.
bool NodeCore::close(const Deadline& deadline) {
  if (!life_.is_open()) return true;
  end_calls();
  std::unique_lock lock(turning_, std::defer_lock);
  if (!lock_turning(lock, [&] { return gives_up(deadline); })) return false;
  if (!life_.is_open()) return true;
  if (!await_last_turn(deadline)) return false;
  if (thread_.joinable()) thread_.join();
  TUTTI_ASSERT(has_turned_last(), hung_up_, incarnation_->view().id);  // T4
  for (const auto& group : cores()) {
    if (!await_end_of([&] { return group->has_delivery_ended(); }, deadline)) return false;
    group->join_delivery();
  }
  for (const auto& group : cores()) {
    Completions& completions = group->completions();
    completions.end();
    if (!await_end_of([&] { return completions.has_ended(); }, deadline)) return false;
    completions.join();
  }
  requests_.close();
  if (!await_end_of([this] { return requests_.have_ended(); }, deadline)) return false;
  requests_.join();
  hang_up();
  incarnation_->quit_states();
  if (!await_end_of([this] { return incarnation_->have_states_ended(); }, deadline)) return false;
  if (disk_ != nullptr) {
    disk_->quit();
    awaits_disk_ = true;
    if (!await_end_of([this] { return disk_->has_ended(); }, deadline)) return false;
    awaits_disk_ = false;
    disk_->join();
  }
  incarnation_->end_states();  // now nothing of the disk wakes it
  dismiss_stand_in();
  TUTTI_ASSERT(!standing_in_, incarnation_->view().id);  // T1
  halt_groups();
  life_.set_phase(Phase::stopped);
  changed_.notify();
  return true;
}

}  // namespace tutti
