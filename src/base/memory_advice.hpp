/// \file memory_advice.hpp
/// What to do where the system gives no memory.
#pragma once
#include <sys/resource.h>

#include <optional>
#include <string>

namespace tutti {

/// How many bytes of address space this process may have; nothing if there is no limit.
inline std::optional<rlim_t> address_space_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return limit.rlim_cur;
}

/// To be put behind what was asked for.
inline std::string memory_advice() {
  std::string raise;
  if (const std::optional<rlim_t> limit = address_space_limit()) {
    raise = "raise the limit on address space (ulimit -v), which is " + std::to_string(*limit) +
            " bytes, ";
  }
  return raise + "free memory, or use a smaller window";
}

}  // namespace tutti
