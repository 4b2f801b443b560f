#include "node/signal.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace tutti {
namespace {

std::uint32_t* word(std::atomic<std::uint32_t>& value) {
  static_assert(sizeof(value) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&value);
}

}  // namespace

void Signal::wait(std::uint32_t seen, std::chrono::nanoseconds timeout) {
  if (timeout.count() > 0) {
    const timespec limit{.tv_sec = timeout.count() / 1'000'000'000,
                         .tv_nsec = timeout.count() % 1'000'000'000};
    syscall(SYS_futex, word(count_), FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
  }
  cancel();
}

void Signal::wake() {
  count_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, word(count_), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tutti
