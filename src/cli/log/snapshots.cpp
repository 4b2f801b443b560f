#include "cli/log/snapshots.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "log/snapshot_file.hpp"

namespace tutti::cli {
namespace {

Result<log::Snapshot> read_whole(const log::Disk& disk, const std::string& path,
                                 std::uint64_t seq) {
  Result<std::unique_ptr<log::SnapshotFile>> file = log::SnapshotFile::open(disk, path);
  if (!file) return std::unexpected(std::move(file.error()));
  if (Result<void> whole = (*file)->verify(); !whole) {
    return std::unexpected(std::move(whole.error()));
  }
  if ((*file)->header().seq == seq) return (*file)->header();
  return fail(ErrorCode::damaged,
              path + ": it says that it is before record " + std::to_string((*file)->header().seq));
}

}  // namespace

std::vector<FoundSnapshot> find_snapshots(const std::string& directory) {
  const std::unique_ptr<log::Disk> disk = log::posix_disk();
  std::vector<FoundSnapshot> out;
  const Result<std::vector<std::string>> names = disk->list(directory);
  if (!names) return out;
  const std::string folder = directory + "/";
  for (const std::string& name : *names) {
    const std::optional<std::uint64_t> seq = log::seq_of_snapshot(name);
    if (!seq) continue;
    Result<log::Snapshot> header = read_whole(*disk, folder + name, *seq);
    if (!header) {
      const Result<std::vector<std::string>> now = disk->list(directory);
      if (now && !std::ranges::binary_search(*now, name)) continue;
    }
    out.push_back({name, std::move(header)});
  }
  return out;
}

std::string snapshot_text(const FoundSnapshot& snapshot) {
  if (!snapshot.header) return "DAMAGED: " + snapshot.header.error().message;
  return "before record " + std::to_string(snapshot.header->seq) + " (view " +
         std::to_string(snapshot.header->view) + ", " + std::to_string(snapshot.header->bytes) +
         " bytes)";
}

nlohmann::json snapshots_json(const std::vector<FoundSnapshot>& snapshots) {
  nlohmann::json out = nlohmann::json::array();
  for (const FoundSnapshot& one : snapshots) {
    if (one.header) {
      out.push_back({{"file", one.file},
                     {"before", one.header->seq},
                     {"view", one.header->view},
                     {"bytes", one.header->bytes},
                     {"node", one.header->identity.node},
                     {"damage", nullptr}});
    } else {
      out.push_back({{"file", one.file}, {"damage", one.header.error().message}});
    }
  }
  return out;
}

bool any_is_damaged(const std::vector<FoundSnapshot>& snapshots) {
  return std::ranges::any_of(snapshots, [](const auto& one) { return !one.header; });
}

}  // namespace tutti::cli
