#include "cli/perf/worker.hpp"

#include <algorithm>
#include <utility>

#include "cli/clock.hpp"

namespace tutti::cli {
namespace {

constexpr std::chrono::milliseconds kTurn{10};  // PW2
constexpr std::int64_t kTurnNs = std::chrono::nanoseconds(kTurn).count();

// Without space: the first turns only pause, then other threads are let run, then it blocks.
constexpr std::uint32_t kPauses = 16;
constexpr std::uint32_t kYields = 64;
constexpr std::uint32_t kDriverYields = 200;

}  // namespace

Worker::Worker(Node& node, std::deque<Sender>& senders, const PerfPlan& plan, bool spin)
    : node_(node),
      senders_(senders),
      drives_(plan.drive == Drive::caller),
      may_sleep_(plan.idle.sleep),
      spin_(spin),
      thread_([this] { loop(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    has_task_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::call(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  task_ = std::move(task);
  has_task_.store(true, std::memory_order_release);
  changed_.notify_all();
  changed_.wait(lock, [this] { return task_ == nullptr; });
}

bool Worker::run_task() {
  const std::lock_guard lock(mutex_);
  if (task_ != nullptr) task_();
  task_ = nullptr;
  has_task_.store(false, std::memory_order_relaxed);
  changed_.notify_all();
  return !stopping_;
}

void Worker::loop() {
  while (true) {
    // What run_task() says, and not the hint: the next task may have come since.
    if (has_task_.load(std::memory_order_relaxed) && !run_task()) return;
    std::uint64_t done = 0;
    for (Sender& sender : senders_) done += sender.step();
    if (drives_) done += node_.poll();
    if (done > 0) {
      idle_turns_ = 0;
      continue;
    }
    ++idle_turns_;
    if (drives_) {
      back_off_as_driver();
    } else {
      back_off_as_sender();
    }
  }
}

Sender* Worker::most_urgent() {
  const auto urgency = [](const Sender& sender) {
    return std::pair(sender.blocked(), -sender.due_ns());
  };
  const auto found = std::ranges::max_element(senders_, {}, urgency);
  return found == senders_.end() ? nullptr : &*found;
}

void Worker::back_off_as_sender() {
  Sender* const sender = most_urgent();
  if (sender == nullptr || sender->blocked() == Blocked::finished) return wait_for_task();
  if (sender->blocked() == Blocked::not_due) {
    const std::int64_t until = std::min(sender->due_ns(), now_ns() + kTurnNs);
    return sender->pauses() ? busy_wait_until(until, spin_) : wait_until(until, spin_);
  }
  const bool alone = senders_.size() == 1;
  if (spin_ || !may_sleep_ || !alone) return wait_a_turn(spin_);
  if (sender->blocked() == Blocked::in_flight) return sender->wait_for_delivery(kTurn);
  wait_for_space(*sender);
}

void Worker::wait_for_space(Sender& sender) {
  if (idle_turns_ <= kPauses) return cpu_pause();
  if (idle_turns_ <= kPauses + kYields) return wait_a_turn(false);
  sender.send_when_space(kTurn);
  idle_turns_ = 0;
}

void Worker::back_off_as_driver() {
  if (spin_ || !may_sleep_ || idle_turns_ < kDriverYields) return wait_a_turn(spin_);
  std::int64_t sleep_ns = kTurnNs;
  if (Sender* const sender = most_urgent();
      sender != nullptr && sender->blocked() == Blocked::not_due) {
    sleep_ns = std::clamp<std::int64_t>(sender->due_ns() - now_ns(), 0, kTurnNs);
  }
  node_.wait(std::chrono::nanoseconds(sleep_ns));
}

void Worker::wait_for_task() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return has_task_.load(std::memory_order_relaxed); });
}

}  // namespace tutti::cli
