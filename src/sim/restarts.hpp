/// \file restarts.hpp
/// The view with which the groups of a restarted world begin, as its options and its seed say.
#pragma once
#include <optional>

#include "membership/view_log.hpp"
#include "sim/options.hpp"

namespace tutti::sim {

/// Nothing if the world begins with the first view.
[[nodiscard]] std::optional<RestartView> restarts_of(const Options& options);

}  // namespace tutti::sim
