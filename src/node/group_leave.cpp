// How a member leaves a group that it has joined at run time, and what its calls say from then on.
#include "node/group_core.hpp"
#include "node/node_core.hpp"

namespace tutti {

Result<void> GroupCore::leave(std::chrono::nanoseconds timeout) {
  return node_.joined().leave(*this, timeout);
}

void GroupCore::part() {
  left_.store(true, std::memory_order_release);  // first: who finds the group halted asks why
  halt();
}

std::optional<Error> GroupCore::why_over() const {
  if (std::optional<Error> over = node_.why_over()) return over;
  if (!has_left()) return {};
  return Error{ErrorCode::stopped, "group '" + options_.name +
                                       "': this member has left it; join it again to send and "
                                       "deliver there"};
}

}  // namespace tutti
