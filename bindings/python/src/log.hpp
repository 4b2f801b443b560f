/// \file log.hpp
/// Log lines of all nodes of the process, until the package's thread hands them to `logging` (PY1).
#pragma once
#include <string>
#include <string_view>

#include "tutti/options.hpp"

namespace tutti::python {

/// Any thread. Beyond 10,000 lines that nobody has taken the oldest are dropped; a line says how
/// many.
void put_line(const std::string& node, LogLevel level, std::string_view text);

}  // namespace tutti::python
