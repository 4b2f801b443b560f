#include "fabric/verbs/undertaker.hpp"

#include <system_error>
#include <utility>

namespace tutti::verbs {

Undertaker::~Undertaker() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Undertaker::bury(std::shared_ptr<void> deceased) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return;  // and `deceased` goes with it
    }
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(deceased));
  }
  changed_.notify_one();
}

void Undertaker::run() {
  std::unique_lock lock(mutex_);
  while (!over_ || !waiting_.empty()) {
    changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    std::vector<std::shared_ptr<void>> dead = std::exchange(waiting_, {});
    lock.unlock();
    dead.clear();
    lock.lock();
  }
}

}  // namespace tutti::verbs
