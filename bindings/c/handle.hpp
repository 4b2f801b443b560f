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

namespace tutti {
class GroupCore;
}

namespace tutti::c {

enum class Usable : std::uint32_t { yes, ended, forked };

/// Of a handle: all there are, also those that were ended, in a list. So the child of a fork finds
/// those of its parent, and a use asks for nothing but its own handle; and tools that look for lost
/// memory find what stays of them.
struct Listed {
  std::atomic<Usable> usable{Usable::yes};
  /// Of a group that is usable: where its messages are claimed and committed. Null otherwise. So a
  /// message looks at one word of its handle.
  std::atomic<GroupCore*> sends{nullptr};
  const void* core = nullptr;  // of a group, also after its end
  bool is_of_parent = false;   // set in the child of a fork
  Listed* next = nullptr;

  /// False if it was forbidden before.
  bool forbid(Usable why) {
    sends.store(nullptr, std::memory_order_relaxed);  // first: a fork may come in between
    Usable now = Usable::yes;
    return usable.compare_exchange_strong(now, why, std::memory_order_acq_rel);
  }
};

/// The first call has forks watched.
void list(Listed& handle);

/// In the child of a fork: the claims of that group's core are its parent's. They lie in memory
/// that both share, so the child must not give them up.
[[nodiscard]] bool is_of_parent(const void* core);

template <class Object>
class Handle : private Listed {
 public:
  explicit Handle(Object object) : object_(std::move(object)) { list(*this); }

  [[nodiscard]] Object* get() {
    return usable.load(std::memory_order_acquire) == Usable::yes ? &*object_ : nullptr;
  }
  [[nodiscard]] const char* why_not() const {
    return usable.load(std::memory_order_relaxed) == Usable::ended
               ? "was destroyed before"
               : "belongs to the parent of this process, which forked: a child may "
                 "call nothing of Tutti";
  }
  /// False if it was ended before. In the child of a fork nothing is destroyed.
  bool end() {
    if (!forbid(Usable::ended)) return false;
    object_.reset();
    return true;
  }

 protected:
  using Listed::core;
  using Listed::sends;

 private:
  std::optional<Object> object_;
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
  explicit tutti_group(const tutti::Group& group);
  /// Null if it is not usable.
  [[nodiscard]] tutti::GroupCore* sends_to() const { return sends.load(std::memory_order_acquire); }
};
