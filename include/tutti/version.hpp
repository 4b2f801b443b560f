/// \file version.hpp
/// The version of the library at run time, which may differ from that of the headers.
#pragma once
#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// For example "0.1.0".
[[nodiscard]] TUTTI_API std::string_view version();

}  // namespace tutti
