/// \file snapshots.hpp
/// The snapshots beside a log, for the commands of `tutti log`.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "log/snapshot_format.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct FoundSnapshot {
  std::string file{};              ///< its name
  Result<log::Snapshot> header{};  ///< or what is wrong with the file
};
/// Oldest first. Every byte is read. One that is removed meanwhile is left out.
[[nodiscard]] std::vector<FoundSnapshot> find_snapshots(const std::string& directory);

/// "before record 8 (view 2, 100 bytes)", or what is wrong.
[[nodiscard]] std::string snapshot_text(const FoundSnapshot& snapshot);
/// Likewise, as an array of objects.
[[nodiscard]] nlohmann::json snapshots_json(const std::vector<FoundSnapshot>& snapshots);
[[nodiscard]] bool any_is_damaged(const std::vector<FoundSnapshot>& snapshots);

}  // namespace tutti::cli
