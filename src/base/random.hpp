/// \file random.hpp
/// Numbers that nobody guesses and no other process has, from the kernel. Threads: any.
#pragma once
#include <cstdint>

#include "tutti/error.hpp"

namespace tutti {

/// Never 0. Fails only if the kernel has no random numbers.
[[nodiscard]] Result<std::uint64_t> random_u64();

}  // namespace tutti
