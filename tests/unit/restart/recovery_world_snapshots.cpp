// Snapshots of the nodes, and what they release of their logs. The state of a group is the sequence
// itself, so each snapshot can be compared with what it stands for.
#include <algorithm>
#include <cstring>

#include "log/snapshots.hpp"
#include "unit/restart/recovery_world.hpp"

namespace tutti::restart::testing {
namespace {

std::vector<std::byte> bytes_of(const Sequence& state) {
  const auto bytes = std::as_bytes(std::span(state));
  return {bytes.begin(), bytes.end()};
}

Result<Sequence> state_in(const log::Disk& disk, const std::string& path) {
  auto file = log::SnapshotFile::open(disk, path);
  if (!file) return std::unexpected(file.error());
  std::vector<std::byte> bytes;
  for (std::uint64_t i = 0; i < (*file)->blocks(); ++i) {
    const auto block = (*file)->block(i);
    if (!block) return std::unexpected(block.error());
    bytes.insert(bytes.end(), block->begin(), block->end());
  }
  Sequence out(bytes.size() / sizeof(std::uint64_t));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(std::uint64_t));
  return out;
}

}  // namespace

log::Snapshots* RecoveryWorld::open_snapshots(Node& node, const std::string& group) {
  if (!takes_snapshots_) return nullptr;
  auto found = log::Snapshots::open(*node.disk, *node.writers.at(group));
  if (!found) {
    holds(is_excused(node, found.error()), "opens", found.error().message);
    return nullptr;
  }
  holds(found->trouble().empty() || node.rotten, "snapshots_are_whole",
        found->trouble().empty() ? "" : found->trouble().front());
  return &node.snapshots.insert_or_assign(group, std::move(*found)).first->second;
}

// SC1: what all members of its view have on disk.
std::uint64_t RecoveryWorld::durable_at_all(const Node& node, const std::string& group) {
  const std::vector<Node*> all = together(node.view);
  if (all.size() != node.view.members.size()) return 0;
  std::uint64_t least = ~0ULL;
  for (const Node* one : all) {
    const auto of = one->logs_of.find(group);
    if (of == one->logs_of.end()) return 0;
    least = std::min(least, of->second.handed ? of->second.written : 0);
  }
  return least;
}

void RecoveryWorld::take_snapshot(Node& node, const std::string& group) {
  Log& of = node.logs_of[group];
  if (!takes_snapshots_ || !of.handed) return;
  log::Snapshots& files = node.snapshots.at(group);
  const bool own = mistake_ == RecoveryMistake::snapshot_not_durable ||
                   mistake_ == RecoveryMistake::beyond_cut_kept;
  const std::uint64_t most = own ? of.written : durable_at_all(node, group);
  if (most > files.newest()) {
    const std::uint64_t less = snapshot_random_.below(most - files.newest());
    const std::uint64_t seq = most - (snapshot_random_.one_in(2) ? 0 : less);
    if (seq >= of.summary.whole_from) write_snapshot(node, group, seq);
  }
  if (!node.ends) release(node, group);
}

void RecoveryWorld::write_snapshot(Node& node, const std::string& group, std::uint64_t seq) {
  log::Snapshots& files = node.snapshots.at(group);
  const Sequence& has = node.has[group];
  const std::uint64_t end = mistake_ == RecoveryMistake::numbered_wrong ? seq - 1 : seq;
  const Sequence state(has.begin(), has.begin() + static_cast<std::ptrdiff_t>(end));
  const std::string path = files.path_of(log::Snapshots::kNewName);
  auto writer = log::SnapshotWriter::create(*node.disk, path, ++salt_);
  if (!writer) return disk_failed(node, writer.error());
  auto done = (*writer)->append(bytes_of(state));
  const auto header = (*writer)->finish({.identity = node.writers.at(group)->identity(),
                                         .origin = node.recovery->views().origin,
                                         .seq = seq,
                                         .view = node.view.id});
  if (!done) return disk_failed(node, done.error());
  if (!header) return disk_failed(node, header.error());
  if (mistake_ == RecoveryMistake::renamed_unsynced) {  // written once more, and not synced
    const std::vector<std::byte> bytes = node.disk->contents(path);
    auto file = node.disk->create(path);
    (void)(*file)->write(0, bytes);
  }
  if (mistake_ == RecoveryMistake::old_goes_first) {
    for (const log::Snapshot& one : files.all()) node.disk->erase(files.path_of(one.seq));
  }
  const Result<void> published = files.publish(log::Snapshots::kNewName, *header);
  if (!published) return disk_failed(node, published.error());
  ++counts_.snapshots;
  Log& of = node.logs_of[group];
  of.summary.snapshot = files.newest();
}

// SC2.
void RecoveryWorld::release(Node& node, const std::string& group) {
  Log& of = node.logs_of[group];
  log::Snapshots& files = node.snapshots.at(group);
  log::Writer& writer = *node.writers.at(group);
  if (mistake_ == RecoveryMistake::beyond_cut_kept) return;  // else the log is lost before
  const std::uint64_t durable =
      mistake_ == RecoveryMistake::snapshot_not_durable ? of.written : durable_at_all(node, group);
  std::uint64_t limit = std::min({files.release_limit(), durable, of.keep_from});
  if (mistake_ == RecoveryMistake::released_too_far) limit = writer.next();
  const std::uint64_t first = writer.first();
  const Result<void> done = writer.release_before(limit);
  if (!done) return disk_failed(node, done.error());
  counts_.released += writer.first() - first;
  release_before(of.summary, writer.first());
}

// What a snapshot has in the place of what the log lacks; and each is what the log has.
Sequence RecoveryWorld::read_beginning(const Node& node, const std::string& group,
                                       std::uint64_t whole_from) {
  Sequence out;
  const std::string& directory = node.writers.at(group)->directory();
  const auto names = node.disk->list(directory);
  for (const std::string& name : *names) {
    const std::optional<std::uint64_t> seq = log::seq_of_snapshot(name);
    if (!seq || *seq < whole_from || *seq > node.writers.at(group)->next()) continue;
    const Result<Sequence> state = state_in(*node.disk, directory + "/" + name);
    holds(state || node.rotten, "snapshots_are_whole", state ? "" : state.error().message);
    if (!state) continue;
    holds(state->size() == *seq && (out.empty() || is_prefix(out, *state)), "one_history",
          names_[node.slot] + "'s snapshot " + name + " is not what comes before its number");
    out = *state;
  }
  holds(out.size() >= whole_from, "has_its_beginning",
        names_[node.slot] + "'s log begins with record " + std::to_string(whole_from) +
            ", and no snapshot has what comes before");
  return out;
}

}  // namespace tutti::restart::testing
