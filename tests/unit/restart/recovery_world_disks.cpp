// Disks that fail, are full, and rot.
#include <algorithm>
#include <utility>

#include "log/read.hpp"
#include "log/snapshots.hpp"
#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {

using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;

void RecoveryWorld::disk_fault(Node& node) {
  if (calm_) return;
  if (node.recovery) {
    if (!node.fail_after && !node.failed) node.fail_after = faults_.below(24);
  } else if (faults_.one_in(5) && losses_ < (nodes_.size() - 1) / 2) {
    rot(node);
  }
}

// One operation fails. What the node makes of it is its own affair; later ones are done (SD2).
DiskFate RecoveryWorld::fate_of(Node& node, const DiskOperation& operation) {
  if (calm_ || !node.fail_after || !operation.changes() || (*node.fail_after)-- != 0) {
    return DiskFate::done;
  }
  node.fail_after.reset();
  node.failed = true;
  ++counts_.failed_disks;
  return faults_.one_in(2) ? DiskFate::io_error : DiskFate::no_space;
}

// A byte changes: of `views`, or of a log before its last batch. What a change in that one has cut
// off cannot be told from what was never written; log.md says so.
void RecoveryWorld::rot(Node& node) {
  struct Extent {
    std::string path;
    std::uint64_t bytes;
  };
  std::vector<Extent> extents;
  const auto at_end_too = [&](const std::string& path) {
    if (node.disk->has(path)) extents.push_back({path, node.disk->contents(path).size()});
  };
  at_end_too("/state/views");
  for (const std::string& group : groups_) {
    const auto names = node.disk->list("/state/" + group);
    for (const std::string& name : names ? *names : std::vector<std::string>{}) {
      if (log::seq_of_snapshot(name)) at_end_too("/state/" + group + "/" + name);
    }
    const auto reading = log::read_log(*node.disk, "/state/" + group);
    if (!reading || reading->segments.empty()) continue;
    for (const log::SegmentFile& segment : reading->segments) {
      const bool last = &segment == &reading->segments.back();
      extents.push_back({segment.path, last ? segment.content.last : segment.content.end});
    }
  }
  std::erase_if(extents, [](const Extent& extent) { return extent.bytes == 0; });
  if (extents.empty()) return;
  const Extent& chosen = extents[faults_.below(extents.size())];
  std::vector<std::byte> bytes = node.disk->contents(chosen.path);
  const std::uint64_t offset = faults_.below(chosen.bytes);
  const auto flip = static_cast<std::byte>(1U << faults_.below(8));
  const std::optional<Views> views = views_on(*node.disk);
  node.had_voted = node.had_voted || (views && (views->installed().id > 1 || views->accepted));
  bytes[offset] ^= flip;
  note(names_[node.slot] + "'s " + chosen.path + " changes at " + std::to_string(offset));
  node.disk->put(chosen.path, std::move(bytes));
  node.rotten = true;
  ++losses_;
}

// Errors come from disks that have failed or are damaged, and from nothing else.
bool RecoveryWorld::is_excused(Node& node, const Error& error) {
  note(names_[node.slot] + ": " + error.message);
  return node.rotten || (node.failed && error.code != ErrorCode::damaged);
}

// Its node ends, and says nothing more.
void RecoveryWorld::disk_failed(Node& node, const Error& error) {
  holds(is_excused(node, error), "writes", error.message);
  node.ends = true;
}

// The operator moves a damaged directory away.
void RecoveryWorld::replace_disk(Node& node) {
  ++counts_.damaged;
  stop(node);
  node.disk = std::make_unique<tutti::testing::SimDisk>();
  node.rotten = node.put_back = node.bootstraps = false;
}

// WL2: a log whose disk has failed takes nothing more, and its node ends.
void RecoveryWorld::write_failed(Node& node, Log& of, const std::string& group, std::uint64_t until,
                                 const LogSummary& summary) {
  if (mistake_ == RecoveryMistake::opens_failed_log) {
    until = read_log(node, group).size();
  } else if (mistake_ != RecoveryMistake::ignores_failed_write) {
    return;
  }
  if (until != summary.next) return;
  of.written = until;
  of.summary = summary;
  see(node.view);
}

}  // namespace tutti::restart::testing
