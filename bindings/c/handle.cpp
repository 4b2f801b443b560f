#include "c/handle.hpp"

#include <pthread.h>

namespace tutti::c {
namespace {

// The last that was listed. In the child of a fork it is whole: a handle that another thread of the
// parent had not listed yet is nobody's there.
std::atomic<Listed*> last{nullptr};
std::atomic<bool> is_child{false};  // of a fork, and its parent had handles

void forbid_all() {
  is_child.store(last.load(std::memory_order_acquire) != nullptr, std::memory_order_relaxed);
  for (Listed* each = last.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    each->forbid(Usable::forked);
    each->is_of_parent = true;
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

// A core of the child's own may lie where one of its parent's did.
bool is_of_parent(const void* core) {
  if (!is_child.load(std::memory_order_relaxed)) return false;
  bool found = false;
  for (Listed* each = last.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    if (each->core != core) continue;
    if (!each->is_of_parent) return false;
    found = true;
  }
  return found;
}

int cannot_use(const char* what, const char* why_not, tutti_error_t* error) noexcept {
  return guarded(error, [&] {
    const std::string handle = std::string("the handle of a ") + what + ' ';
    if (why_not == nullptr) return refused(error, handle + "is NULL");
    return failed(error, TUTTI_E_STOPPED, handle + why_not);
  });
}

}  // namespace tutti::c
