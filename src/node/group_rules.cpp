/// \file group_rules.cpp
#include "node/group_rules.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace tutti {
namespace {

bool is_member(const NodeOptions& node, const std::string& name) {
  return std::ranges::find(node.members, name, &MemberAddress::name) != node.members.end();
}

std::string known_members(const NodeOptions& node) {
  std::string text;
  for (const MemberAddress& member : node.members) {
    text += (text.empty() ? "" : ", ") + member.name;
  }
  return text;
}

std::unexpected<Error> bad(const GroupOptions& group, const std::string& what) {
  return fail(ErrorCode::invalid_argument, "group '" + group.name + "': " + what);
}

}  // namespace

Result<void> check_group(const NodeOptions& node, std::span<const GroupOptions> joined,
                         const GroupOptions& group) {
  if (Result<void> valid = group.validate(); !valid) return valid;
  if (std::ranges::find(joined, group.name, &GroupOptions::name) != joined.end()) {
    return bad(group, "name is taken: this node has joined a group of that name already");
  }
  for (const std::string& member : group.members) {
    if (!is_member(node, member)) {
      return bad(group, "members: '" + member +
                            "' is not a member of the node; known: " + known_members(node));
    }
  }
  if (group.stateful && !group.members.empty() && group.members.size() != node.members.size()) {
    return bad(group,
               "stateful: whoever is there first gives the state, so all nodes must be "
               "members; leave members empty");
  }
  for (const std::string& sender : group.senders) {
    if (!is_member(node, sender)) {
      return bad(group, "senders: '" + sender + "' is not a member; known: " + known_members(node));
    }
  }
  return {};
}

std::uint64_t rounded_window_bytes(std::uint64_t window_bytes) {
  return std::bit_ceil(window_bytes);
}

GroupOptions resolve_group(const NodeOptions& node, GroupOptions group) {
  if (group.members.empty()) {
    for (const MemberAddress& member : node.members) group.members.push_back(member.name);
  }
  if (group.senders.empty()) group.senders = group.members;
  group.window_bytes = rounded_window_bytes(group.window_bytes);
  return group;
}

}  // namespace tutti
