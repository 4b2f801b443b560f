#include "node/node_core.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "node/clock.hpp"

namespace tutti {
namespace {

// The clock is read once in this many idle turns while spinning.
constexpr int kSpinsPerPause = 4;

void pause_briefly() {
  for (int i = 0; i < kSpinsPerPause; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

}  // namespace

NodeCore::NodeCore(NodeOptions options)
    : callbacks_(options.name, [this](const Error& thrown) { fail_with(thrown); }),
      options_(callbacks_.wrap(std::move(options))),
      requests_(*this, options_),
      may_create_(!options_.join_only),
      caller_idle_(options_.idle) {}

NodeCore::~NodeCore() { static_cast<void>(close(Deadline(kForever))); }

Result<void> NodeCore::watch_views(ViewCallback watcher) {
  if (!is_declared()) {
    return fail(ErrorCode::invalid_argument,
                "node '" + options_.name + "': watch_views was called after start; call it before");
  }
  callbacks_.wrap(watcher);
  if (watcher) watchers_.of_views.push_back(std::move(watcher));
  return {};
}

Result<void> NodeCore::watch_end(std::function<void()> watcher) {
  if (!is_declared()) {
    return fail(ErrorCode::invalid_argument,
                "node '" + options_.name + "': watch_end was called after start; call it before");
  }
  if (watcher) watchers_.of_end.push_back(std::move(watcher));
  return {};
}

std::vector<MemberLag> NodeCore::lags(const GroupCore& group) const {
  return incarnation_->lags().of(group.options().name);
}

void NodeCore::run() {
  IdlePolicy policy(options_.idle);
  while (life_.phase() != Phase::quitting && !has_turned_last()) {
    if (!stays_awake(policy, turn())) idle(policy, kLongestSleep);
  }
  run_ended_.store(true, std::memory_order_release);
  changed_.notify();
}

bool NodeCore::stays_awake(IdlePolicy& policy, std::size_t work) const {
  if (work == 0) return false;
  if (incarnation_->loop().advanced()) {
    policy.worked();
  } else {
    policy.landed();
  }
  return true;
}

std::size_t NodeCore::poll() {
  if (options_.drive != Drive::caller) return 0;
  if (refuses_turn("Node::poll")) return 0;
  const std::lock_guard lock(turning_);
  return life_.is_open() ? turn() : 0;
}

void NodeCore::wait(std::chrono::nanoseconds timeout) {
  if (options_.drive != Drive::caller) return;
  if (refuses_turn("Node::wait")) return;
  const std::lock_guard lock(turning_);
  if (!life_.is_open() || has_turned_last()) return;  // whoever ends it wants the lock
  doze(std::clamp<std::chrono::nanoseconds>(timeout, std::chrono::nanoseconds(0), kLongestSleep));
}

std::size_t NodeCore::turn() {
  if (hung_up_) return 0;
  if (ends()) [[unlikely]] {
    show_failure();
    // Before the pass: who goes must not vote for a view first. One that has failed is silent: the
    // others must not wait for the callback that it waits for itself.
    if (life_.in_view()) part_from_others();
    if (hung_up_ || failed()) return 0;
  }
  // Another pass might be one in a change of view, which would need this member to its end.
  const Course course = life_.course();
  if (course == Course::said_all || course == Course::parted) [[unlikely]]
    return 0;
  const Ending ending = ending_.load(std::memory_order_acquire);
  if (ending != Ending::none && life_.in_view()) [[unlikely]]
    incarnation_->end(ending);
  if (incarnation_->bootstrap().has_failed() && !notice_ && !failed()) [[unlikely]]
    notice_ = incarnation_->bootstrap().failure();
  const std::uint64_t before_ns = incarnation_->passed_ns();
  const bool calls = !standing_in_ && !ends();
  const std::size_t work = pass(calls ? Calls::allowed : Calls::forbidden);
  if (hung_up_) return work;  // by the stand-in, during a call
  if (options_.drive == Drive::caller) note_turn(before_ns);
  if (notice_) [[unlikely]]
    heed_notice(work == 0);
  if (work != 0) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // G1, for all signals of this turn
    if (life_.in_view()) {
      for (const auto& group : groups_) group->after_pass();
      for (GroupCore* const group : joined_.here()) group->after_pass();
      check_groups();
    }
  } else if (has_said_all()) {
    life_.set_course(life_.in_view() ? Course::said_all : Course::parted);
    changed_.notify();
  } else if (life_.in_view() && !failed()) {
    check_groups();  // the thread of a group, or a pass without work, may have found a violation
  }
  show_failure();
  if (failed() && life_.in_view()) [[unlikely]] {
    part_from_others();
    return 0;
  }
  // At the end of each busy stretch, and now and then within a long one.
  const bool rests = work == 0 && std::exchange(counters_stale_, false);
  if (work != 0) counters_stale_ = true;
  if (rests || incarnation_->loop().passes() % 256 == 0) save_counters();
  return work;
}

void NodeCore::show_failure() {
  if (failed() && !std::exchange(shown_stopped_, true)) [[unlikely]]
    incarnation_->show_stopped(failure()->message);
}

// Drive::caller: says so if the application has kept the others waiting, or is in a call that takes
// long on another thread.
void NodeCore::note_turn(std::uint64_t since_ns) {
  constexpr std::uint64_t kQuietNs = 10'000'000'000;
  const std::uint64_t now = incarnation_->passed_ns();
  watch_calls(now);
  const auto limit_ns = static_cast<std::uint64_t>(options_.suspect_after.count()) / 2;
  if (since_ns == 0 || now - since_ns < limit_ns || !options_.log) return;
  if (late_told_ns_ != 0 && now - late_told_ns_ < kQuietNs) return;
  late_told_ns_ = now;
  options_.log(LogLevel::warning,
               "Node::poll was called " + in_seconds(std::chrono::nanoseconds(now - since_ns)) +
                   " s after the pass before it; suspect_after is " +
                   in_seconds(options_.suspect_after) +
                   " s: poll or wait four times as often, or the others may remove this member; "
                   "or let it have a thread of its own (Drive::own_thread)");
}

// Contradicted by another member, or removed for good. In a view, the decision says more, and
// whether we left in order: it was posted before the notice, so it is here once nothing is left to
// do.
void NodeCore::heed_notice(bool idle) {
  if (life_.in_view()) {
    if (!idle || incarnation_->has_decided()) return;
    if (left_.load(std::memory_order_relaxed)) return;
  }
  TUTTI_ASSERT(notice_.has_value(), idle);
  fail_with(*std::exchange(notice_, {}));
}

void NodeCore::check_groups() {
  std::size_t complete = 0;
  const auto is_well = [&](const GroupCore& group) {
    TUTTI_ASSERT(group.subgroup() != nullptr);  // in a view
    if (group.subgroup()->complete()) ++complete;
    const std::optional<Violation> violation = group.subgroup()->violation();
    if (!violation) return true;
    fail_with({ErrorCode::peer_lost, "member '" + incarnation_->name_of(violation->slot) +
                                         "' is corrupt in group '" + group.options().name +
                                         "': " + violation->what +
                                         "; nothing more is delivered. Restart the group"});
    return false;
  };
  for (const auto& group : groups_) {
    if (!is_well(*group)) return;
  }
  for (const GroupCore* const group : joined_.here()) {
    if (!is_well(*group)) return;
  }
  const Requests<NativeMemory>* requests = incarnation_->requests();
  if (requests != nullptr && requests->violation()) [[unlikely]] {
    const Violation& violation = *requests->violation();
    fail_with({ErrorCode::peer_lost, "member '" + incarnation_->name_of(violation.slot) +
                                         "' is corrupt in its requests: " + violation.what +
                                         "; nothing more is delivered. Restart the group"});
    return;
  }
  if (std::exchange(groups_complete_, complete) == complete) return;
  changed_.notify();
  for (const auto& group : groups_) group->completed();
  for (GroupCore* const group : joined_.here()) group->completed();
}

void NodeCore::idle(IdlePolicy& policy, std::chrono::nanoseconds longest) {
  switch (policy.next(now_ns())) {
    case IdleAction::spin:
      pause_briefly();
      break;
    case IdleAction::yield:
      sched_yield();
      break;
    case IdleAction::sleep:
      // Acknowledgements wake nobody; a change of view does, and until then it waits for that.
      if (may_end() || joined_.awaits_others())
        longest = std::min<std::chrono::nanoseconds>(longest, kLeavingSleep);
      stays_awake(policy, doze(longest));
      break;
  }
}

// T3. What the last look found: if anything, it did not sleep. An application that was called in it
// found the fabric disarmed, see lend().
std::size_t NodeCore::doze(std::chrono::nanoseconds timeout) {
  TUTTI_ASSERT(!armed_);  // T3: once for each sleep
  save_counters();
  Fabric& fabric = incarnation_->fabric();
  struct RisesAtEnd {  // also if a turn throws
    ~RisesAtEnd() { node.rise(); }
    NodeCore& node;
  };
  const RisesAtEnd rises{*this};
  fabric.arm();
  armed_ = true;
  fence_.heavy();  // T3: pairs with the light one in GroupCore::notify_work()
  incarnation_->look_at_once();
  const std::size_t work = turn();
  if (work == 0 && armed_) {
    const std::uint64_t now = now_ns();
    // What is passed no more has no time for its next pass.
    const bool rests = hung_up_ || out_of_memory_ || (ends() && failed());
    const std::uint64_t next = rests ? ~0ULL : incarnation_->next_pass_ns();
    sleeps_.add(1);
    incarnation_->sleeper().sleep(std::min<std::chrono::nanoseconds>(
        timeout, std::chrono::nanoseconds(next > now ? next - now : 0)));
  }
  return work;
}

void NodeCore::rise() {
  if (std::exchange(armed_, false)) incarnation_->fabric().disarm();
}

void NodeCore::ring_own_doorbell() noexcept {
  const std::uint64_t asleep = incarnation_->asleep().load(std::memory_order_relaxed);
  if (rung_.exchange(asleep, std::memory_order_relaxed) != asleep) incarnation_->sleeper().wake();
}

void NodeCore::notify_work() noexcept {
  fence_.light();  // T3: pairs with the heavy one in doze()
  if (incarnation_->asleep().load(std::memory_order_relaxed) % 2 != 0) ring_own_doorbell();
}

bool NodeCore::wait_until(Signal& signal, const std::function<bool()>& ready,
                          const Deadline& deadline) {
  if (ready()) return true;
  if (!takes_part() || callbacks_.running_here() != nullptr) return false;
  if (options_.drive == Drive::caller) return wait_turning(ready, deadline);
  return wait_beside(signal, ready, deadline);
}

// While another thread turns.
bool NodeCore::wait_beside(Signal& signal, const std::function<bool()>& ready,
                           const Deadline& deadline) {
  IdlePolicy policy(options_.idle);
  for (;;) {
    if (ready()) return true;
    const std::uint64_t now = now_ns();
    if (failed() || !takes_part() || deadline.passed(now)) return false;
    switch (policy.next(now)) {
      case IdleAction::spin:
        pause_briefly();
        break;
      case IdleAction::yield:
        sched_yield();
        break;
      case IdleAction::sleep: {
        const std::uint32_t seen = signal.prepare();
        const bool done = ready();  // not to be asked again: it may have taken what it waited for
        if (done || failed() || !takes_part()) {
          signal.cancel();
          return done;
        }
        signal.wait(seen, std::min<std::chrono::nanoseconds>(deadline.left(now), kLongestSleep));
        break;
      }
    }
  }
}

bool NodeCore::wait_turning(const std::function<bool()>& ready, const Deadline& deadline) {
  std::unique_lock lock(turning_, std::defer_lock);
  // Whoever polls meanwhile may do what is waited for, and keep the lock all the time.
  bool done = false;
  const auto is_over = [&] {
    done = ready();
    return done || failed() || !takes_part() || deadline.passed(now_ns());
  };
  if (!lock_turning(lock, is_over)) return done;
  IdlePolicy policy(options_.idle);
  for (;;) {
    if (!takes_part()) return false;
    const std::size_t work = turn();
    if (ready()) return true;
    if (failed()) return false;
    if (stays_awake(policy, work)) continue;
    const std::uint64_t now = now_ns();
    if (deadline.passed(now)) return false;
    idle(policy, std::min<std::chrono::nanoseconds>(deadline.left(now), kLongestSleep));
  }
}

// Any thread. True if this is the first failure (T2).
bool NodeCore::fail_with(const Error& error) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (failure_) return false;
    failure_ = error;
  }
  failed_.store(true, std::memory_order_release);
  halt_groups();  // first: a log callback that has the failure finds all groups stopped
  log(LogLevel::error, error.message);
  changed_.notify();
  // Acquire: pairs with installed(): the incarnation is there.
  if (!life_.in_view()) return true;
  incarnation_->sleeper().wake();
  if (disk_ != nullptr) disk_->quit();  // it tells nobody any more that it runs
  return true;
}

void NodeCore::halt_groups() {
  joined_.end();
  for (const auto& group : cores()) group->halt();
  watchers_.tell_end();
  requests_.wake();
}

std::optional<Error> NodeCore::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

void NodeCore::save_counters() {
  counters_.save(incarnation_->fabric().counters(), incarnation_->loop());
}

NodeStatistics NodeCore::statistics() const {
  NodeStatistics out = counters_.get();
  out.sleeps = sleeps_.get();
  return out;
}

}  // namespace tutti
