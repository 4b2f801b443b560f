#include "node/state_thread.hpp"

#include <chrono>
#include <utility>

#include "base/start_thread.hpp"

namespace tutti {

StateThread::StateThread(StateJobs& jobs, SnapshotTaker& snapshots, std::function<void()> done)
    : jobs_(jobs), snapshots_(snapshots), done_(std::move(done)) {}

Result<std::unique_ptr<StateThread>> StateThread::start(StateJobs& jobs, SnapshotTaker& snapshots,
                                                        std::function<void()> done) {
  std::unique_ptr<StateThread> out(new StateThread(jobs, snapshots, std::move(done)));
  Result<std::thread> thread =
      start_thread("the thread for states", [self = out.get()] { self->run(); });
  if (!thread) return std::unexpected(thread.error());
  out->thread_ = std::move(*thread);
  return out;
}

StateThread::~StateThread() {
  quit();
  if (thread_.joinable()) thread_.join();
}

void StateThread::quit() {
  quit_.store(true, std::memory_order_seq_cst);
  asked_.notify();
}

void StateThread::run() {
  while (!quit_.load(std::memory_order_acquire)) {
    if (jobs_.work()) {
      done_();
      continue;
    }
    if (snapshots_.work()) continue;
    const std::uint32_t seen = asked_.prepare();
    if (jobs_.waits() || snapshots_.waits() || quit_.load(std::memory_order_acquire)) {
      asked_.cancel();
    } else {
      asked_.wait(seen, std::chrono::hours(1));
    }
  }
  snapshots_.forget();
  jobs_.forget();  // the application's destructors run here like its other calls
  ended_.store(true, std::memory_order_release);
  done_();
}

}  // namespace tutti
