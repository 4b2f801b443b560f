/// \file saved_state.hpp
/// Takes a group's state by the callback that it has for that.
/// Threads: the one that runs the application's callbacks for states.
#pragma once
#include <string_view>

#include "membership/state_jobs.hpp"
#include "tutti/error.hpp"
#include "tutti/state.hpp"

namespace tutti {

/// The group's state now; a state that is saved at once is kept in memory.
[[nodiscard]] Result<ReadSnapshot> take_state(const GroupState& group);

/// The callback that take_state() calls.
[[nodiscard]] inline std::string_view saver_of(const GroupState& group) {
  return group.snapshot ? "snapshot" : "save_state";
}

}  // namespace tutti
