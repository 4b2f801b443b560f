/// \file found_groups.hpp
/// NodeOptions::bootstrap and tutti::bootstrap: founds a node's groups that are logged.
#pragma once
#include <vector>

#include "log/disk.hpp"
#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// `groups` are those that the node joins; the ones that are not logged have no part in it. No
/// other node may use the folder meanwhile.
[[nodiscard]] Result<void> found_groups(log::Disk& disk, const NodeOptions& node,
                                        const std::vector<GroupOptions>& groups);

}  // namespace tutti
