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
/// The orders that `--order all` compares at that level; none if there is no such level.
[[nodiscard]] std::vector<std::string> orders_of(const std::string& level);
/// A line for each order, and a plot of their rates. `result` has an array `results`.
[[nodiscard]] std::string orders_table(const nlohmann::json& result);
[[nodiscard]] std::string idle_table(const nlohmann::json& result);

}  // namespace tutti::cli
