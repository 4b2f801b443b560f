/// \file json_fields.hpp
/// The library's statistics as JSON, and what they grew by between two snapshots.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "tutti/statistics.hpp"

namespace tutti::cli {

[[nodiscard]] nlohmann::json to_json(const BatchHistogram& histogram);
[[nodiscard]] nlohmann::json to_json(const GroupStatistics& statistics);
[[nodiscard]] nlohmann::json to_json(const NodeStatistics& statistics);

/// `end` - `begin`, field by field.
[[nodiscard]] GroupStatistics growth(const GroupStatistics& begin, const GroupStatistics& end);
[[nodiscard]] NodeStatistics growth(const NodeStatistics& begin, const NodeStatistics& end);

/// Adds `more` to `total`, field by field.
void add(GroupStatistics& total, const GroupStatistics& more);
void add(NodeStatistics& total, const NodeStatistics& more);

}  // namespace tutti::cli
