/// \file log_rules.hpp
/// What a node's options must be for its groups that are logged.
#pragma once
#include <vector>

#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// Of one group by itself, for GroupOptions::validate().
[[nodiscard]] Result<void> check_logged(const GroupOptions& group);
[[nodiscard]] Result<void> check_snapshots(const GroupOptions& group);

/// Of a group that is valid by itself; accepted if it is not logged. The error does not name it.
[[nodiscard]] Result<void> check_log(const NodeOptions& node, const GroupOptions& group);

/// Of all groups that the node has joined.
[[nodiscard]] Result<void> check_bootstrap(const NodeOptions& node,
                                           const std::vector<GroupOptions>& groups);

}  // namespace tutti
