#include "fabric/verbs/destroy_queue.hpp"

#include <system_error>
#include <utility>

namespace tutti::verbs {

DestroyQueue::~DestroyQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DestroyQueue::push(std::shared_ptr<void> object) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return;  // and `object` is destroyed here
    }
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(object));
  }
  changed_.notify_one();
}

void DestroyQueue::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_ || !waiting_.empty()) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    std::vector<std::shared_ptr<void>> objects = std::exchange(waiting_, {});
    lock.unlock();
    objects.clear();
    lock.lock();
  }
}

}  // namespace tutti::verbs
