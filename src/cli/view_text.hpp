/// \file view_text.hpp
/// A view as one line for people: `view 2: a, b (c was lost)`.
#pragma once
#include <string>

#include "tutti/view.hpp"

namespace tutti::cli {

[[nodiscard]] std::string to_string(const ViewChange& change);

}  // namespace tutti::cli
