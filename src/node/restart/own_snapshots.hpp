/// \file own_snapshots.hpp
/// Whether the logs of a node that starts have a beginning: all records from the first on, or a
/// snapshot of what came before. Threads: any; values.
#pragma once
#include <optional>
#include <vector>

#include "restart/node_logs.hpp"
#include "restart/views.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// Snapshots of another founding than that of `views` do not count, which `node.log` is told. An
/// error if a log of a group that has snapshots has lost its beginning.
[[nodiscard]] Result<void> check_beginnings(const NodeOptions& node,
                                            const std::vector<GroupOptions>& groups,
                                            const std::optional<restart::Views>& views,
                                            restart::NodeLogs& logs);

}  // namespace tutti
