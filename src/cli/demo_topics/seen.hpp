/// \file seen.hpp
/// What one process of `tutti demo --topics` has seen, as lines of a file: so it is there for the
/// check even if the process was killed.
///
///     S TOPIC POSITION WRITER NUMBER LAST    a sample that its reader took
///     A TOPIC NUMBER                         its own sample was acknowledged, and those before it
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/demo_topics/sample.hpp"
#include "cli/output.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct SeenSample {
  std::uint64_t position = 0;
  DemoSample sample{};
};

/// Of one process.
struct Seen {
  std::array<std::vector<SeenSample>, kDemoTopics.size()> samples{};
  std::array<std::optional<std::uint64_t>, kDemoTopics.size()> acknowledged{};  ///< the last one
};

/// Appends; what was appended is in the file after flush().
void append_sample(Output& output, std::size_t topic, const SeenSample& seen);
void append_acknowledged(Output& output, std::size_t topic, std::uint64_t number);

/// Of a process that may have been killed within a line: that one is left out.
[[nodiscard]] Result<Seen> read_seen(const std::filesystem::path& file);

}  // namespace tutti::cli
