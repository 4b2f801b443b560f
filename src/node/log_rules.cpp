#include "node/log_rules.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSegmentBytesMin = 64ULL << 10;
constexpr std::uint64_t kSegmentBytesMax = 1ULL << 30;
constexpr std::uint64_t kSegmentUnit = 4096;

std::unexpected<Error> bad(const std::string& what) {
  return fail(ErrorCode::invalid_argument, what);
}

}  // namespace

Result<void> check_logged(const GroupOptions& group) {
  const bool durable = group.level == Level::durable;
  if (durable && !group.logged) {
    return bad("level 'durable' needs logged = true: it waits for logs");
  }
  if (group.durable_quorum && !durable) return bad("durable_quorum needs level 'durable'");
  if (group.deliver_from != 0 && !group.logged) return bad("deliver_from needs logged = true");
  if (!group.logged) return {};
  // Of segments: a batch of the log, and the largest message beside it, have room in one.
  const std::uint64_t bytes = group.log_segment_bytes;
  const std::uint64_t least =
      std::max<std::uint64_t>(kSegmentBytesMin, 4ULL * group.message_max_bytes);
  if (bytes % kSegmentUnit != 0 || bytes < least || bytes > kSegmentBytesMax) {
    return bad("log_segment_bytes is " + std::to_string(bytes) + "; legal: a multiple of 4096, " +
               std::to_string(least) + " (64 KiB, and four times message_max_bytes) .. " +
               std::to_string(kSegmentBytesMax));
  }
  if (group.level == Level::atomic || group.level == Level::durable) return {};
  return bad("logged goes with level 'atomic' or 'durable', not '" +
             std::string(to_string(group.level)) +
             "': what one member delivers alone must not be in its log");
}

Result<void> check_snapshots(const GroupOptions& group) {
  const std::uint64_t bytes = group.snapshot_every_bytes;
  const std::chrono::nanoseconds age = group.snapshot_every;
  if (bytes == 0 && age == 0ns) return {};
  const std::string name = bytes != 0 ? "snapshot_every_bytes" : "snapshot_every";
  if (!group.logged || !group.stateful) {
    return bad(name +
               " needs logged = true and stateful = true: a snapshot is the state beside the log");
  }
  if (bytes != 0 && bytes < kSegmentUnit) {
    return bad("snapshot_every_bytes is " + std::to_string(bytes) + "; legal: 0, or 4096 ..");
  }
  if (age == 0ns || (age >= 10ms && age <= 24h)) return {};
  return bad("snapshot_every is " + std::to_string(age.count()) +
             " ns; legal: 0, or 10 ms .. 1 day");
}

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
