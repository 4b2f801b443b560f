/// \file undertaker.hpp
/// Destroys on a thread of its own what takes its time to go: a connection of rdma_cm and its
/// memory may take milliseconds, which nobody's messages are to wait for.
///
/// The thread starts with the first funeral. Threads: bury() one at a time.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti::verbs {

class Undertaker {
 public:
  Undertaker() = default;
  Undertaker(const Undertaker&) = delete;
  Undertaker& operator=(const Undertaker&) = delete;
  /// Returns when all is destroyed.
  ~Undertaker();

  /// Destroys it, if this is the last to hold it: later, or now if there is no thread to be had.
  void bury(std::shared_ptr<void> deceased);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<void>> waiting_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace tutti::verbs
