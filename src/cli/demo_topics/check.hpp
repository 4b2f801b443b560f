/// \file check.hpp
/// Checks what the readers of `tutti demo --topics` saw, after one participant was killed.
///
///  - atomic, stored, logged: all readers saw one sequence, with the same positions. The killed
///    one saw its beginning. The late one saw its end: of the stored topic with at least the
///    history before it came, of the logged one everything.
///  - Each writer's samples are in that sequence once, in order, without a gap; what it was told
///    is acknowledged is there, also if it was killed.
///  - The client, whose relay died with the killed one, saw what is kept as if nothing had
///  happened.
///  - unordered: each reader saw each writer's samples in order, without a gap.
#pragma once
#include <string>
#include <vector>

#include "cli/demo_topics/seen.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// By index in kDemoWriters. An error names the topic, who saw
/// something else and where; else the lines that say what holds.
[[nodiscard]] Result<std::string> check_seen(const std::vector<Seen>& all);

}  // namespace tutti::cli
