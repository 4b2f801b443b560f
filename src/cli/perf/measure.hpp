/// \file measure.hpp
/// The course of a measurement: warm up, measure, stop, collect.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/perf/members.hpp"
#include "cli/perf/options.hpp"

namespace tutti::cli {

/// Runs it and returns what each member counted (PerfMember::result), in rank order, with the name
/// of its host and with its times on this process's clock.
[[nodiscard]] Result<std::vector<nlohmann::json>> measure(PerfMembers& members,
                                                          const PerfOptions& options);

/// --verify: an error unless all members delivered the same, and what was sent.
[[nodiscard]] Result<void> verify(const std::vector<nlohmann::json>& results, bool ordered);

}  // namespace tutti::cli
