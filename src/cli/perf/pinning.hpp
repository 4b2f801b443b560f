/// \file pinning.hpp
/// Where on its host a member of a measurement runs, and whose memory it uses.
#pragma once
#include <cstdint>

#include "cli/perf/options.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// --numa-node: this process runs on the node's processors and takes memory of that node alone.
/// --pin: of the processors that it then may use, it stays on the `position`-th, modulo their
/// number.
[[nodiscard]] Result<void> stay(const PerfOptions& options, std::uint32_t position);

}  // namespace tutti::cli
