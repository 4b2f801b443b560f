/// \file trace.hpp
/// A run with all that happened in it, in words.
#pragma once
#include <string>

#include "sim/run.hpp"

namespace tutti::sim {

/// Appends the events of all members, in order of time, a line each, to `text`.
[[nodiscard]] Outcome run_traced(const Options& options, std::string& text);

}  // namespace tutti::sim
