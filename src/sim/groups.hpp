/// \file groups.hpp
/// The groups that all nodes of a world have, as its options and its seed say.
#pragma once
#include <vector>

#include "sim/options.hpp"
#include "tutti/options.hpp"

namespace tutti::sim {

[[nodiscard]] std::vector<GroupOptions> groups_of(const Options& options);

}  // namespace tutti::sim
