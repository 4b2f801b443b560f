#include "node/state_thread.hpp"

#include <chrono>
#include <system_error>
#include <utility>

namespace tutti {

StateThread::StateThread(StateJobs& jobs, std::function<void()> done)
    : jobs_(jobs), done_(std::move(done)) {}

Result<std::unique_ptr<StateThread>> StateThread::start(StateJobs& jobs,
                                                        std::function<void()> done) {
  std::unique_ptr<StateThread> out(new StateThread(jobs, std::move(done)));
  try {
    out->thread_ = std::thread([self = out.get()] { self->run(); });
  } catch (const std::system_error& problem) {
    return fail(ErrorCode::system,
                std::string("cannot start the thread for states: ") + problem.what());
  }
  return out;
}

StateThread::~StateThread() {
  quit_.store(true, std::memory_order_seq_cst);
  asked_.notify();
  if (thread_.joinable()) thread_.join();
}

void StateThread::run() {
  while (!quit_.load(std::memory_order_acquire)) {
    if (jobs_.work()) {
      done_();
      continue;
    }
    const std::uint32_t seen = asked_.prepare();
    if (jobs_.waits() || quit_.load(std::memory_order_acquire)) {
      asked_.cancel();
    } else {
      asked_.wait(seen, std::chrono::hours(1));
    }
  }
}

}  // namespace tutti
