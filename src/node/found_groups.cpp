#include "node/found_groups.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include "node/disk_logs.hpp"
#include "node/group_rules.hpp"
#include "restart/found.hpp"
#include "tutti/bootstrap.hpp"

namespace tutti {

Result<void> found_groups(log::Disk& disk, const NodeOptions& node,
                          const std::vector<GroupOptions>& groups) {
  std::vector<restart::FoundedGroup> founded;
  for (const GroupOptions& group : groups) {
    if (!group.logged) continue;
    Result<std::string> directory = log_directory(node.state_dir, group.name);
    if (!directory) return std::unexpected(directory.error());
    founded.push_back({.name = group.name, .directory = std::move(*directory)});
  }
  std::vector<std::string> nodes;
  for (const MemberAddress& member : node.members) nodes.push_back(member.name);
  return restart::found(disk, node.state_dir, node.name, nodes, founded);
}

Result<void> bootstrap(const NodeOptions& node, const std::vector<std::string>& groups) {
  if (Result<void> valid = node.validate(); !valid) return valid;
  if (groups.empty()) {
    return fail(ErrorCode::invalid_argument, "bootstrap: name the groups that are to be founded");
  }
  std::vector<GroupOptions> options;
  std::vector<const GroupOptions*> before;
  options.reserve(groups.size());
  for (const std::string& name : groups) {
    // One sender: how many there will be is not known here, and counts for the limits of a node.
    options.push_back({.name = name, .senders = {node.name}, .logged = true});
    if (Result<void> valid = check_group(node, before, options.back()); !valid) return valid;
    before.push_back(&options.back());
  }
  const std::unique_ptr<log::Disk> disk = log::posix_disk();
  if (Result<void> made = disk->make_directory(node.state_dir); !made) return made;
  const Result<std::unique_ptr<log::DirectoryLock>> lock = disk->lock(node.state_dir);
  if (!lock) return std::unexpected(lock.error());
  return found_groups(*disk, node, options);
}

}  // namespace tutti
