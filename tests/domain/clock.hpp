/// \file clock.hpp
/// The time in a simulated domain. This program defines the clocks of the C++ library itself, so
/// that the library's code, which is linked as it is, reads this time: the same for each run.
#pragma once
#include <cstdint>

namespace tutti::domain {

/// Both clocks begin again.
void reset_clocks();
/// So much time passes.
void pass_time(std::uint64_t ns);
/// As the system clock says it, but without that a look costs time.
[[nodiscard]] std::uint64_t time_of_day();
/// As the steady clock says it, likewise.
[[nodiscard]] std::uint64_t steady_time();

}  // namespace tutti::domain
