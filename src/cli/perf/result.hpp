/// \file result.hpp
/// What a measurement found: as JSON for programs, as a table for people.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/perf/options.hpp"

namespace tutti::cli {

/// From what the members counted (PerfMember::result), in rank order.
[[nodiscard]] nlohmann::json result_of(const std::string& benchmark, const PerfOptions& options,
                                       const std::vector<nlohmann::json>& members);

[[nodiscard]] std::string multicast_table(const nlohmann::json& result);
[[nodiscard]] std::string idle_table(const nlohmann::json& result);

}  // namespace tutti::cli
