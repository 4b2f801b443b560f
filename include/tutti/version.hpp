/// \file version.hpp
/// The version of the library that runs, as opposed to the headers that were compiled against.
#pragma once
#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// For example "0.1.0".
[[nodiscard]] TUTTI_API std::string_view version();

}  // namespace tutti
