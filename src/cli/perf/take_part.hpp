/// \file take_part.hpp
/// The member's side of a measurement, whoever started its process.
#pragma once
#include <cstdint>

#include "cli/perf/channel.hpp"
#include "cli/perf/hello.hpp"

namespace tutti::cli {

/// Says hello, learns what to do, until that time (now_ns), and does it to the end. Returns the
/// exit status. Errors are told to the parent, which prints them.
[[nodiscard]] int take_part(Channel channel, const Hello& hello, std::int64_t deadline_ns);

}  // namespace tutti::cli
