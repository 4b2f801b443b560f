/// \file take_part.hpp
/// The member's side of a measurement, whoever started its process.
#pragma once
#include <cstdint>

#include "cli/perf/channel.hpp"
#include "cli/perf/hello.hpp"

namespace tutti::cli {

/// Says hello, learns what to do, until that time (now_ns), and does it to the end. Returns the
/// exit status; an error if the parent never said what to do, or does not want this member. Later
/// errors are told to the parent, which prints them.
[[nodiscard]] Result<int> take_part(Channel channel, const Hello& hello, std::int64_t deadline_ns);

}  // namespace tutti::cli
