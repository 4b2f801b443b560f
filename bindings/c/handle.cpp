#include "c/handle.hpp"

#include <pthread.h>

namespace tutti::c {
namespace {

std::atomic<Remains*> kept{nullptr};

}  // namespace

void count_forks() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { forked.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

void keep(Remains& remains) {
  remains.next = kept.load(std::memory_order_relaxed);
  while (!kept.compare_exchange_weak(remains.next, &remains, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
}

int cannot_use(const char* what, const char* why_not, tutti_error_t* error) noexcept {
  return guarded(error, [&] {
    const std::string handle = std::string("the handle of a ") + what + ' ';
    if (why_not == nullptr) return refused(error, handle + "is NULL");
    return failed(error, TUTTI_E_STOPPED, handle + why_not);
  });
}

}  // namespace tutti::c
