/// \file tick_rules.hpp
/// What GroupOptions::tick_every may be.
#pragma once
#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// An error that says what would be legal, if the group cannot have such ticks.
[[nodiscard]] Result<void> check_ticks(const GroupOptions& group);

}  // namespace tutti
