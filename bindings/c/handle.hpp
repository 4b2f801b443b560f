/// \file handle.hpp
/// What a program in C holds of a node or a group.
///
/// The memory of a handle stays until the process ends, without what it stood for: so a use after
/// its end, and a use in the child of a fork, which has no thread that drives a node, are errors.
/// Threads: any; whoever ends a handle does so once its other calls have returned.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "c/result.hpp"
#include "tutti/group.hpp"
#include "tutti/node.hpp"

namespace tutti::c {

/// Grows in the child of each fork, once forks are counted. Each use of a handle asks for it.
inline std::atomic<std::uint64_t> forked{0};
[[nodiscard]] inline std::uint64_t forks() { return forked.load(std::memory_order_relaxed); }
void count_forks();

/// What stays of a handle. All of them can be reached, so that tools which look for lost memory
/// find none.
struct Remains {
  Remains* next = nullptr;
};
void keep(Remains& remains);

template <class Object>
class Handle : private Remains {
 public:
  explicit Handle(Object object) : object_(std::move(object)), usable_after_(c::forks()) {
    count_forks();
  }

  [[nodiscard]] Object* get() {
    return usable_after_.load(std::memory_order_acquire) == c::forks() ? &*object_ : nullptr;
  }
  [[nodiscard]] const char* why_not() const {
    return usable_after_.load(std::memory_order_relaxed) == kEnded
               ? "was destroyed before"
               : "belongs to the parent of this process, which forked: a child may "
                 "call nothing of Tutti";
  }
  /// False if it was ended before. In the child of a fork nothing is destroyed.
  bool end() {
    std::uint64_t now = c::forks();
    if (!usable_after_.compare_exchange_strong(now, kEnded, std::memory_order_acq_rel)) {
      return false;
    }
    object_.reset();
    keep(*this);
    return true;
  }

 private:
  static constexpr std::uint64_t kEnded = ~std::uint64_t{0};
  std::optional<Object> object_;
  std::atomic<std::uint64_t> usable_after_;  // so many forks, and no other number of them; kEnded
};

/// Says that the handle of a `what` is NULL, or else `why_not`. Not inline: the strings would weigh
/// on each call that sends.
[[gnu::noinline, gnu::cold]] int cannot_use(const char* what, const char* why_not,
                                            tutti_error_t* error) noexcept;

/// Calls `use` with what the handle stands for, or says why it cannot.
template <class OfHandle, class Use>
int with(OfHandle* handle, const char* what, tutti_error_t* error, Use&& use) noexcept {
  auto* const object = handle == nullptr ? nullptr : handle->get();
  if (object == nullptr) [[unlikely]] {
    return cannot_use(what, handle == nullptr ? nullptr : handle->why_not(), error);
  }
  return guarded(error, [&] { return std::forward<Use>(use)(*object); });
}

}  // namespace tutti::c

struct tutti_node : tutti::c::Handle<tutti::Node> {
  using Handle::Handle;
};
struct tutti_group : tutti::c::Handle<tutti::Group> {
  using Handle::Handle;
};
