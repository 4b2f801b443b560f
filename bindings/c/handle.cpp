#include "c/handle.hpp"

#include <pthread.h>

namespace tutti::c {
namespace {

// The last that was listed. In the child of a fork it is whole: a handle that another thread of the
// parent had not listed yet is nobody's there.
std::atomic<Listed*> last{nullptr};

void forbid_all() {
  for (Listed* each = last.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    each->forbid(Usable::forked);
  }
}

}  // namespace

void list(Listed& handle) {
  static const int watched = ::pthread_atfork(nullptr, nullptr, forbid_all);
  static_cast<void>(watched);
  handle.next = last.load(std::memory_order_relaxed);
  while (!last.compare_exchange_weak(handle.next, &handle, std::memory_order_release,
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
