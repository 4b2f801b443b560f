/// \file found.hpp
/// The founding of a new group: what a node's file `views` says before anything has happened. It is
/// written at one node; nodes that have none take it over from there (docs/restart.md).
/// Threads: any. The functions with a disk may block for as long as it does.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "restart/views.hpp"

namespace tutti::restart {

/// View 1 of all nodes, whose names are in the order of their slots, with a new random origin.
/// `groups`: their names, each once, in any order.
[[nodiscard]] Result<Views> founding_views(std::string node, std::vector<std::string> nodes,
                                           std::vector<std::string> groups);

/// Whether nothing has happened since founding_views() made them, of whatever nodes and groups.
[[nodiscard]] bool is_founding(const Views& views);

/// A group that is logged, and where.
struct FoundedGroup {
  std::string name{};
  std::string directory{};
};

/// Makes the directories and writes `views`, unless they are there and say the same already. An
/// error says what is there instead: a group that has begun, records, another node's files. Then
/// nothing has changed. No node may use `state_dir` meanwhile.
[[nodiscard]] Result<void> found(log::Disk& disk, const std::string& state_dir,
                                 const std::string& node, const std::vector<std::string>& nodes,
                                 const std::vector<FoundedGroup>& groups);

}  // namespace tutti::restart
