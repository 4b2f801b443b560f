#include "c/handle.hpp"

#include <pthread.h>

namespace tutti::c {
namespace {

std::atomic<std::uint64_t> forked{0};
std::atomic<Remains*> kept{nullptr};

}  // namespace

std::uint64_t forks() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { forked.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return forked.load(std::memory_order_relaxed);
}

void keep(Remains& remains) {
  remains.next = kept.load(std::memory_order_relaxed);
  while (!kept.compare_exchange_weak(remains.next, &remains, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
}

}  // namespace tutti::c
