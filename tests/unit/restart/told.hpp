/// \file told.hpp
/// What nodes say to each other in a restart, for people who read the story of a seed.
#pragma once
#include <string>

#include "restart/message.hpp"

namespace tutti::restart::testing {

/// "prepare 3 from view 1"
[[nodiscard]] std::string to_string(const RestartMessage& message);

}  // namespace tutti::restart::testing
