/// \file loopback.hpp
/// Addresses on loopback for members a, b, c, ... of a test.
#pragma once
#include <vector>

#include "tutti/options.hpp"

namespace tutti {

/// Ports that nobody uses now, all different.
[[nodiscard]] std::vector<MemberAddress> loopback_members(std::size_t count);

}  // namespace tutti
