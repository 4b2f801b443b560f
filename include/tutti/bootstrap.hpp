/// \file bootstrap.hpp
/// Founds groups that are logged, before any node has started (docs/durable.md, "The first start").
#pragma once
#include <string>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// Says once, at one of the nodes, that the groups of these names are new: it writes so into
/// `node.state_dir`, which it makes if it is not there. `groups` are all groups of the nodes that
/// are logged. Then start all nodes, always with the same options: they found the groups once all
/// of them are there, and go on with them after any crash.
///
/// An error says what is there instead, such as a group with messages, and what to do; nothing is
/// changed then. It is no error if it was done before and no node has begun yet. Starts no thread
/// and calls nobody; blocks for as long as the disk does. Any thread; while it runs, no node uses
/// that folder.
[[nodiscard]] TUTTI_API Result<void> bootstrap(const NodeOptions& node,
                                               const std::vector<std::string>& groups);

}  // namespace tutti
