/// \file scenario.hpp
/// Named kinds of runs: the options of a seed, with some of them set.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/options.hpp"
#include "tutti/error.hpp"

namespace tutti::sim {

struct Scenario {
  std::string_view name;
  std::string_view about;
  void (*apply)(Options&);
};

/// The first one has the options that the seed draws, including rare ones.
[[nodiscard]] const std::vector<Scenario>& scenarios();

/// The part of them that is about what applications do (scenario_applications.cpp).
[[nodiscard]] std::vector<Scenario> scenarios_of_applications();

/// The error lists the known ones.
[[nodiscard]] Result<Scenario> scenario_from(std::string_view name);

}  // namespace tutti::sim
