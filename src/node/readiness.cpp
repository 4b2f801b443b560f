#include "node/readiness.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tutti {

Readiness::~Readiness() {
  const int descriptor = descriptor_.load(std::memory_order_relaxed);
  if (descriptor >= 0) ::close(descriptor);
}

Result<int> Readiness::get() {
  const std::lock_guard lock(making_);
  if (const int made = descriptor_.load(std::memory_order_relaxed); made >= 0) return made;
  const int descriptor = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) {
    return fail(ErrorCode::system, std::string("no descriptor for an event: ") +
                                       std::strerror(errno) +
                                       "; let the process have more of them (ulimit -n)");
  }
  descriptor_.store(descriptor, std::memory_order_release);
  return descriptor;
}

// RD1.
bool Readiness::arm() {
  const int descriptor = descriptor_.load(std::memory_order_acquire);
  if (descriptor < 0 || ended_.load(std::memory_order_acquire)) return false;
  eventfd_t count = 0;
  ::eventfd_read(descriptor, &count);  // EAGAIN: it was unreadable
  armed_.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // RD1
  if (ended_.load(std::memory_order_relaxed)) rise();
  return true;
}

void Readiness::rise() {
  if (!armed_.exchange(false, std::memory_order_acq_rel)) return;
  ::eventfd_write(descriptor_.load(std::memory_order_acquire), 1);
}

void Readiness::end() {
  ended_.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // RD1
  rise();
}

}  // namespace tutti
