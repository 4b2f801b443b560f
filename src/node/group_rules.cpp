/// \file group_rules.cpp
#include "node/group_rules.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>

#include "fabric/control_record.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/carriers.hpp"
#include "node/log_rules.hpp"
#include "sst/control_bytes.hpp"
#include "sst/pass_words.hpp"
#include "sst/rounds_ahead.hpp"
#include "sst/row_layout.hpp"

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

// For the words of the membership, of states and of trials, which wait in the same frame.
constexpr std::size_t kOtherWords = 16UL * 1024;

std::size_t senders_of(const NodeOptions& node, const GroupOptions& group) {
  if (!group.senders.empty()) return group.senders.size();
  return group.members.empty() ? node.members.size() : group.members.size();
}

Result<void> check_rounds(const NodeOptions& node, const GroupOptions& group) {
  const std::optional<std::uint64_t> most = window_records_max(group.order);
  const std::uint64_t senders = senders_of(node, group);
  if (!most || senders * group.window_messages <= *most) return {};
  return bad(group, "window_messages is " + std::to_string(group.window_messages) + " with " +
                        std::to_string(senders) + " senders and order '" +
                        std::string(to_string(group.order)) + "': their windows may hold " +
                        std::to_string(*most) + " messages together; legal: a power of two, 2 .. " +
                        std::to_string(std::bit_floor(*most / senders)) +
                        ", or name fewer senders");
}

// What waits at most for one peer: two blocks of words, each whole and as it was in a view with
// fewer senders. At Level::agreed the same again, with what is passed on.
std::size_t waiting_bytes(const NodeOptions& node, const GroupOptions& group) {
  const std::size_t senders = senders_of(node, group);
  const std::size_t words = kControlRecordBytes + control_bytes(group.order, senders, group.logged);
  std::size_t bytes = 4 * words;
  if (group.level == Level::agreed) {
    bytes += 4 * (words + PassWords::bytes(senders, node.members.size()));
  }
  return bytes;
}

Result<void> check_room(const NodeOptions& node, std::span<const GroupOptions* const> joined,
                        const GroupOptions& group) {
  if (joined.size() >= kGroupsMax) {
    return bad(group, "a node joins at most " + std::to_string(kGroupsMax) + " groups");
  }
  const std::size_t most = control_bytes_max(node);
  if (most == std::numeric_limits<std::size_t>::max()) return {};
  std::size_t bytes = waiting_bytes(node, group);
  for (const GroupOptions* other : joined) bytes += waiting_bytes(node, *other);
  const std::size_t room = most - kOtherWords;
  if (bytes <= room) return {};
  return bad(group, "with it the control words of all groups take up to " + std::to_string(bytes) +
                        " bytes, of which " + std::to_string(room) +
                        " fit a frame; join fewer groups, or name fewer senders");
}

}  // namespace

Result<void> check_group(const NodeOptions& node, std::span<const GroupOptions* const> joined,
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
  if (Result<void> r = check_log(node, group); !r) return bad(group, r.error().message);
  if (Result<void> r = check_rounds(node, group); !r) return r;
  return check_room(node, joined, group);
}

// Each refusal says what a space, or a part that begins with a view, does not have.
Result<void> check_reserved(const GroupOptions& group) {
  const auto refuse = [](const std::string& what) {
    return fail(ErrorCode::invalid_argument, "a group that is joined after start " + what);
  };
  if (!group.members.empty() || !group.senders.empty()) {
    return refuse("names no members and senders: who joins it is both; leave them empty");
  }
  if (group.logged) {
    return refuse("has no log: logs are opened before a node meets the others; set logged = false");
  }
  if (group.stateful) {
    return refuse(
        "has no state for joiners: they begin with the first message of their view; set "
        "stateful = false");
  }
  if (group.tick_every.count() != 0) return refuse("has no ticks; set tick_every = 0");
  if (group.delivery == DeliveryThread::own) {
    return refuse("has no thread of its own; choose DeliveryThread::predicate or application");
  }
  if (group.order != Order::round_robin || group.level != Level::atomic) {
    return refuse("has order 'round_robin' at level 'atomic'");
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
