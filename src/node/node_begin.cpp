// How a node starts for an application that does not wait for it.
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/memory_advice.hpp"
#include "base/start_thread.hpp"
#include "node/node_core.hpp"

namespace tutti {

Result<int> NodeCore::begin_start() {
  if (Result<void> may = may_start("Node::begin_start"); !may) {
    return std::unexpected(std::move(may.error()));
  }
  UniqueFd over(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!over) {
    return fail(ErrorCode::system,
                std::string("no descriptor that tells of the end of the start: ") +
                    std::strerror(errno) + "; let the process have more of them (ulimit -n)");
  }
  // run_start() takes this lock too: a callback that ends the node finds starter_ set.
  const std::lock_guard starting(starting_);
  start_over_ = std::move(over);
  begun_.store(true, std::memory_order_release);
  starts_.store(true, std::memory_order_release);  // whoever stops it from here on waits for it
  Result<std::thread> starter = start_thread("the thread of its start", [this] {
    try {
      static_cast<void>(run_start());
    } catch (const std::bad_alloc&) {
      tell_started(
          fail(ErrorCode::system, "no memory for the start of this node: " + memory_advice()));
    }
  });
  if (!starter) {
    begun_.store(false, std::memory_order_release);
    starts_.store(false, std::memory_order_release);
    changed_.notify();
    return std::unexpected(std::move(starter.error()));
  }
  starter_ = std::move(*starter);
  return start_over_.get();
}

std::optional<Result<void>> NodeCore::started() const {
  const std::lock_guard lock(started_mutex_);
  return started_;
}

void NodeCore::tell_started(const Result<void>& result) {
  {
    const std::lock_guard lock(started_mutex_);
    started_ = result;
  }
  if (begun_.load(std::memory_order_acquire)) ::eventfd_write(start_over_.get(), 1);
}

bool NodeCore::polls_start() const {
  return options_.drive == Drive::caller && begun_.load(std::memory_order_acquire);
}

bool NodeCore::await_start(const std::function<bool()>& ready, const Deadline& deadline) {
  return polls_start() ? wait_beside(changed_, ready, deadline)
                       : wait_until(changed_, ready, deadline);
}

// The thread that ends a start may be the only one that polls: the node's last words still go out.
void NodeCore::turn_for_start() {
  if (!polls_start()) return;
  const std::unique_lock lock(turning_, std::try_to_lock);
  if (lock.owns_lock() && life_.is_open()) turn();
}

// Of a node that is destroyed: its start ends soon.
void NodeCore::end_begun_start() {
  if (!starter_.joinable()) return;
  start_ended_.store(true, std::memory_order_release);
  changed_.notify();
  starter_.join();
}

}  // namespace tutti
