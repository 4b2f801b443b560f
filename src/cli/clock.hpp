/// \file clock.hpp
/// The command's clock: CLOCK_MONOTONIC in nanoseconds. It is the same in all processes of a host,
/// so receivers there can compare a time stamp in a message with their own time.
#pragma once
#include <sched.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace tutti::cli {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

[[nodiscard]] inline std::int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

/// Tells the core that this is a spin loop.
inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// One step of waiting: a thread that spins keeps its core, any other yields it.
inline void wait_a_turn(bool spin) {
  if (spin) {
    cpu_pause();
  } else {
    sched_yield();
  }
}

/// Waits until `deadline_ns` without sleeping.
inline void busy_wait_until(std::int64_t deadline_ns, bool spin) {
  while (now_ns() < deadline_ns) wait_a_turn(spin);
}

/// Waits until `deadline_ns`, asleep when that is far off: waking up takes some 50 us.
inline void wait_until(std::int64_t deadline_ns, bool spin) {
  constexpr std::int64_t kWorthSleepingNs = 100'000;
  if (deadline_ns - now_ns() <= kWorthSleepingNs) return busy_wait_until(deadline_ns, spin);
  const timespec until{.tv_sec = deadline_ns / kNsPerSecond, .tv_nsec = deadline_ns % kNsPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace tutti::cli
