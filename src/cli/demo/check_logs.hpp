/// \file check_logs.hpp
/// Checks what the members of a demo logged against what they printed.
#pragma once
#include <vector>

#include "cli/demo/check.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// `members` are those of check_killed() or check_identical(), which were found right: all have a
/// log, and if one was killed the last is its second start. An error unless the records of each log
/// are what the members that went on delivered: all of it; of a killed one the beginning, with all
/// that it printed; of its second start the end.
[[nodiscard]] Result<void> check_logs(const std::vector<MemberFiles>& members);

}  // namespace tutti::cli
