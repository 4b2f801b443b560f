/// \file find.hpp
/// Which directories have logs: a directory of one log, or one with such directories below it.
#pragma once
#include <string>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::cli {

/// So deep below a directory logs are looked for; links are not followed.
inline constexpr int kLogDepthMax = 3;

/// The directories with a log, sorted: `path` itself, or else those below it. An error if `path`
/// is no directory, cannot be read, or has no log.
[[nodiscard]] Result<std::vector<std::string>> find_logs(const std::string& path);

/// The only one; an error that names them if there are several.
[[nodiscard]] Result<std::string> find_log(const std::string& path);

}  // namespace tutti::cli
