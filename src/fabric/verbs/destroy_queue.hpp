/// \file destroy_queue.hpp
/// Destroys objects on a thread of its own. Destroying a connection of rdma_cm and its memory may
/// take milliseconds, and no message must wait for that.
///
/// The thread starts with the first object. Threads: push() from one thread at a time.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti::verbs {

class DestroyQueue {
 public:
  DestroyQueue() = default;
  DestroyQueue(const DestroyQueue&) = delete;
  DestroyQueue& operator=(const DestroyQueue&) = delete;
  /// Returns when all is destroyed.
  ~DestroyQueue();

  /// Drops this reference later, or now if no thread can be started.
  void push(std::shared_ptr<void> object);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<void>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tutti::verbs
