/// \file own_views.hpp
/// What a node's state directory says of the groups that the node was in, at its start.
#pragma once
#include <optional>
#include <vector>

#include "restart/node_logs.hpp"
#include "restart/views_file.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// The `views` on disk; nothing if the node was in no group yet. With NodeOptions::bootstrap they
/// are written first. `groups` are resolved. An error says what is wrong with the directory:
/// another node's, other nodes than in the options, logs without `views`, bootstrap where there is
/// a group already.
[[nodiscard]] Result<std::optional<restart::Views>> own_views(
    const NodeOptions& node, const std::vector<GroupOptions>& groups, restart::ViewsFile& file,
    const restart::NodeLogs& logs);

}  // namespace tutti
