#include "node/log_rules.hpp"

#include <algorithm>
#include <string>

namespace tutti {

// The nodes of a restart vote on all groups at once, by what is in their logs.
Result<void> check_log(const NodeOptions& node, const GroupOptions& group) {
  if (!group.logged) return {};
  if (node.state_dir.empty()) {
    return fail(ErrorCode::invalid_argument,
                "logged: the node has no state_dir; set it to a folder of this node alone");
  }
  if (group.members.empty() || group.members.size() == node.members.size()) return {};
  std::string lacking;
  for (const MemberAddress& member : node.members) {
    if (std::ranges::find(group.members, member.name) != group.members.end()) continue;
    lacking += (lacking.empty() ? "'" : ", '") + member.name + "'";
  }
  return fail(ErrorCode::invalid_argument,
              "logged: all nodes must be members, for each of them may be needed to begin again "
              "from its log, and " +
                  lacking + " cannot; leave members empty");
}

Result<void> check_bootstrap(const NodeOptions& node, const std::vector<GroupOptions>& groups) {
  if (!node.bootstrap) return {};
  if (node.join_only) {
    return fail(ErrorCode::invalid_argument,
                "bootstrap and join_only contradict each other: bootstrap founds groups, and "
                "join_only never does; set one of them");
  }
  if (std::ranges::any_of(groups, &GroupOptions::logged)) return {};
  return fail(ErrorCode::invalid_argument,
              "bootstrap is for groups that are logged, and none of this node's is; others are "
              "founded without it");
}

}  // namespace tutti
