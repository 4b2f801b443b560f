#include "node/node_core.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "node/clock.hpp"
#include "node/group_rules.hpp"
#include "node/text.hpp"

namespace tutti {
namespace {

// A node that leaves waits for acknowledgements, which wake nobody.
constexpr std::chrono::nanoseconds kLeavingSleep = std::chrono::milliseconds(1);

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
      may_found_(!options_.join_only),
      caller_idle_(options_.idle) {}

NodeCore::~NodeCore() { close(); }

Result<GroupCore*> NodeCore::join(GroupOptions options) {
  if (state_ != State::created) {
    return fail(ErrorCode::invalid_argument,
                "group '" + options.name + "' was joined after start; join all groups before");
  }
  std::vector<GroupOptions> joined;
  joined.reserve(groups_.size());
  for (const auto& group : groups_) joined.push_back(group->options());
  if (Result<void> checked = check_group(options_, joined, options); !checked) {
    return std::unexpected(checked.error());
  }
  GroupOptions resolved = callbacks_.wrap(resolve_group(options_, std::move(options)));
  const auto rank = std::ranges::find(resolved.members, options_.name) - resolved.members.begin();
  const auto at = std::ranges::lower_bound(groups_, resolved.name, {}, [](const auto& group) {
    return std::string_view(group->options().name);
  });
  return groups_
      .insert(at, std::make_unique<GroupCore>(*this, std::move(resolved),
                                              Rank{static_cast<std::uint32_t>(rank)}))
      ->get();
}

void NodeCore::run() {
  IdlePolicy policy(options_.idle);
  while (!quit_.load(std::memory_order_acquire)) {
    if (!stays_awake(policy, turn())) idle(policy, kLongestSleep);
  }
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
  return state_ == State::running ? turn() : 0;
}

void NodeCore::wait(std::chrono::nanoseconds timeout) {
  if (options_.drive != Drive::caller) return;
  if (refuses_turn("Node::wait")) return;
  const std::lock_guard lock(turning_);
  if (state_ != State::running) return;
  doze(std::clamp<std::chrono::nanoseconds>(timeout, std::chrono::nanoseconds(0), kLongestSleep));
}

std::size_t NodeCore::turn() {
  if (hung_up_) return 0;
  if (asks_to_leave_.load(std::memory_order_relaxed) &&
      asks_to_leave_.exchange(false, std::memory_order_acquire)) [[unlikely]] {
    incarnation_->leave();
  }
  if (incarnation_->lobby().has_news()) [[unlikely]]
    notice_ = incarnation_->lobby().failure();
  const std::uint64_t before_ns = incarnation_->passed_ns();
  const std::size_t work = pass();
  if (options_.drive == Drive::caller) note_turn(before_ns);
  if (notice_) [[unlikely]]
    heed_notice(work == 0);
  if (work != 0) {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // G1, for all signals of this turn
    if (in_view_.load(std::memory_order_relaxed)) {
      for (const auto& group : groups_) group->after_pass();
      check_groups();
    }
    if (finishing_.load(std::memory_order_relaxed)) changed_.notify_fenced();
  } else if (draining_.load(std::memory_order_acquire) && incarnation_->fabric().drained()) {
    drained_.store(true, std::memory_order_release);
    changed_.notify();
  }
  if (failed() && !std::exchange(shown_stopped_, true)) [[unlikely]]
    incarnation_->show_stopped(failure()->message);
  if (failed() && in_view_.load(std::memory_order_relaxed)) [[unlikely]] {
    // The others learn at once that they must go on without us; but a callback that still runs
    // reads in their rows.
    const auto rests = [](const auto& group) { return group->subgroup()->at_rest(); };
    if (!std::ranges::all_of(groups_, rests)) return 0;
    hung_up_ = true;
    incarnation_->hang_up();
    return 0;
  }
  // At the end of each busy stretch, and now and then within a long one.
  const bool rests = work == 0 && std::exchange(counters_stale_, false);
  if (work != 0) counters_stale_ = true;
  if (rests || incarnation_->loop().passes() % 256 == 0) save_counters();
  return work;
}

// Drive::caller: says so if the application has kept the others waiting, or is in a call that takes
// long on another thread.
void NodeCore::note_turn(std::uint64_t since_ns) {
  constexpr std::uint64_t kQuietNs = 10'000'000'000;
  const std::uint64_t now = incarnation_->passed_ns();
  watch_beside(now);
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
  if (in_view_.load(std::memory_order_relaxed)) {
    if (!idle || incarnation_->decided()) return;
    if (left_.load(std::memory_order_relaxed)) return;
  }
  fail_with(*std::exchange(notice_, {}));
}

void NodeCore::check_groups() {
  std::size_t complete = 0;
  for (const auto& group : groups_) {
    if (group->subgroup()->complete()) ++complete;
    if (const std::optional<Violation> violation = group->subgroup()->violation()) {
      fail_with({ErrorCode::peer_lost, "member '" + group->options().members[violation->sender_id] +
                                           "' is corrupt in group '" + group->options().name +
                                           "': " + violation->what +
                                           "; nothing more is delivered. Restart the group"});
      return;
    }
  }
  if (std::exchange(groups_complete_, complete) != complete) changed_.notify();
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
      if (draining_.load(std::memory_order_acquire)) longest = std::min(longest, kLeavingSleep);
      stays_awake(policy, doze(longest));
      break;
  }
}

// T3. What the last look found: if anything, it did not sleep. An application that was called in it
// found the fabric disarmed, see lend().
std::size_t NodeCore::doze(std::chrono::nanoseconds timeout) {
  save_counters();
  Fabric& fabric = incarnation_->fabric();
  fabric.arm();
  armed_ = true;
  fence_.heavy();  // T3: pairs with the light one in GroupCore::notify_work()
  const std::size_t work = turn();
  if (work == 0 && armed_) {
    const std::uint64_t now = now_ns();
    const std::uint64_t next = incarnation_->next_pass_ns();
    sleeps_.add(1);
    incarnation_->sleeper().sleep(std::min<std::chrono::nanoseconds>(
        timeout, std::chrono::nanoseconds(next > now ? next - now : 0)));
  }
  rise();
  return work;
}

void NodeCore::rise() {
  if (std::exchange(armed_, false)) incarnation_->fabric().disarm();
}

void NodeCore::ring_own_doorbell() noexcept {
  const std::uint64_t asleep = incarnation_->asleep().load(std::memory_order_relaxed);
  if (rung_.exchange(asleep, std::memory_order_relaxed) != asleep) incarnation_->sleeper().wake();
}

bool NodeCore::wait_until(Signal& signal, const std::function<bool()>& ready,
                          const Deadline& deadline) {
  if (ready()) return true;
  if (state_ != State::running || callbacks_.running_here() != nullptr) return false;
  if (options_.drive == Drive::caller) return wait_turning(ready, deadline);
  IdlePolicy policy(options_.idle);
  for (;;) {
    if (ready()) return true;
    const std::uint64_t now = now_ns();
    if (failed() || state_ != State::running || deadline.passed(now)) return false;
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
        if (done || failed()) {
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
  const std::lock_guard lock(turning_);
  IdlePolicy policy(options_.idle);
  for (;;) {
    if (state_ != State::running) return false;
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
  if (in_view_.load(std::memory_order_acquire)) incarnation_->sleeper().wake();
  return true;
}

void NodeCore::halt_groups() {
  for (const auto& group : groups_) group->halt();
}

std::optional<Error> NodeCore::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

bool NodeCore::all_complete() const {
  return std::ranges::all_of(groups_,
                             [](const auto& group) { return group->subgroup()->complete(); });
}

// Waits until `ready`, then hands all that is posted to the others, and closes.
Result<void> NodeCore::finish_by(const std::function<bool()>& ready, const Deadline& deadline) {
  const bool done = wait_until(changed_, ready, deadline);
  if (done) {
    draining_.store(true, std::memory_order_release);
    incarnation_->sleeper().wake();
    wait_until(changed_, [this] { return drained_.load(std::memory_order_acquire); }, deadline);
  }
  // A failure ends the wait before its time, and says why itself.
  const std::string call = done || failed() ? std::string() : watch_of_calls().going_on();
  if (!call.empty()) log(LogLevel::warning, call + " is waited for, beyond the time-out");
  close();
  if (done) return {};
  if (std::optional<Error> failure = this->failure()) return std::unexpected(*failure);
  return std::unexpected(why_not_finished(call));
}

Result<void> NodeCore::stop(std::chrono::nanoseconds timeout) {
  if (std::optional<Error> refusal = refusal_here("Node::stop")) return std::unexpected(*refusal);
  if (state_ != State::running) {
    if (std::optional<Error> failure = this->failure()) return std::unexpected(*failure);
    return {};
  }
  const Deadline deadline(timeout);
  for (const auto& group : groups_) group->finish();
  return finish_by([this] { return all_complete(); }, deadline);
}

Result<void> NodeCore::leave(std::chrono::nanoseconds timeout) {
  if (std::optional<Error> refusal = refusal_here("Node::leave")) return std::unexpected(*refusal);
  if (state_ != State::running) {
    if (std::optional<Error> failure = this->failure()) return std::unexpected(*failure);
    return {};
  }
  const Deadline deadline(timeout);
  for (const auto& group : groups_) group->finish();
  const auto sent = [this] {
    return std::ranges::all_of(groups_, [](const auto& group) { return group->sent_all(); });
  };
  finishing_.store(true, std::memory_order_release);
  if (wait_until(changed_, sent, deadline)) {
    asks_to_leave_.store(true, std::memory_order_release);
    incarnation_->sleeper().wake();
  }
  // If all end together, nobody may be there any more who would let us go.
  const auto gone = [this] { return left_.load(std::memory_order_acquire) || all_complete(); };
  return finish_by(gone, deadline);
}

// Ends the thread that drives the node.
void NodeCore::quit() {
  quit_.store(true, std::memory_order_release);
  incarnation_->sleeper().wake();
  if (thread_.joinable()) thread_.join();
  dismissed_.store(true, std::memory_order_release);
  dismissal_.notify();
  if (stand_in_.joinable()) stand_in_.join();
}

void NodeCore::close() {
  const std::lock_guard lock(turning_);
  if (state_ != State::running) return;
  quit();
  halt_groups();
  for (const auto& group : groups_) group->join_delivery();
  save_counters();
  state_ = State::stopped;
  if (!hung_up_) incarnation_->hang_up();
  hung_up_ = true;
  incarnation_->end_states();
  changed_.notify();
}

void NodeCore::save_counters() {
  const FabricCounters now = incarnation_->fabric().counters();
  fabric_counters_[0].store(now.writes, std::memory_order_relaxed);
  fabric_counters_[1].store(now.bytes, std::memory_order_relaxed);
  fabric_counters_[2].store(now.doorbells, std::memory_order_relaxed);
  fabric_counters_[3].store(now.posting_ns, std::memory_order_relaxed);
  fabric_counters_[4].store(now.signalled, std::memory_order_relaxed);
}

NodeStatistics NodeCore::statistics() const {
  NodeStatistics out;
  if (incarnation_ == nullptr) return out;
  out.passes = incarnation_->loop().passes();
  out.working_passes = incarnation_->loop().working_passes();
  out.sleeps = sleeps_.get();
  out.writes_posted = fabric_counters_[0].load(std::memory_order_relaxed);
  out.bytes_posted = fabric_counters_[1].load(std::memory_order_relaxed);
  out.doorbells = fabric_counters_[2].load(std::memory_order_relaxed);
  out.posting_ns = fabric_counters_[3].load(std::memory_order_relaxed);
  out.signalled_writes = fabric_counters_[4].load(std::memory_order_relaxed);
  return out;
}

}  // namespace tutti
