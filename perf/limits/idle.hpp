/// \file idle.hpp
/// How a limit program waits for a condition that another process makes true: some pauses, then
/// `sched_yield` at every turn. With `pauses` = kSpinOnly it never yields.
/// Not a wait by itself: the caller tests its condition between two turns.
#pragma once
#include <sched.h>

#include <cstdint>
#include <limits>

namespace limits {

inline constexpr int64_t kSpinOnly = std::numeric_limits<int64_t>::max();

/// Tells the core that this is a spin loop.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Idle {
 public:
  explicit Idle(int64_t pauses) : pauses_(pauses) {}

  /// One turn without progress.
  void wait() {
    if (turns_ < pauses_) {
      ++turns_;
      pause();
    } else {
      sched_yield();
    }
  }

  /// Progress was made: the next wait starts with pauses again.
  void reset() { turns_ = 0; }

 private:
  const int64_t pauses_;
  int64_t turns_ = 0;
};

}  // namespace limits
