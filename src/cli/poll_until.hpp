/// \file poll_until.hpp
/// Waiting for descriptors instead of looking again and again.
#pragma once
#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <span>

#include "cli/clock.hpp"

namespace tutti::cli {

/// poll(2) for input until that time (now_ns): how many of `inputs` are ready. A signal ends it
/// too.
inline int poll_until(std::span<pollfd> inputs, std::int64_t deadline_ns) {
  const std::int64_t left_ns = std::max<std::int64_t>(0, deadline_ns - now_ns());
  const timespec left{.tv_sec = left_ns / kNsPerSecond, .tv_nsec = left_ns % kNsPerSecond};
  return std::max(0, ::ppoll(inputs.data(), inputs.size(), &left, nullptr));
}

}  // namespace tutti::cli
