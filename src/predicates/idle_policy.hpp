/// \file idle_policy.hpp
/// What to do after a pass that found nothing: spin, then yield, then sleep, by how long it has
/// been idle. The caller reads the clock and does the waiting. Threads: one.
#pragma once
#include <cstdint>

#include "tutti/options.hpp"

namespace tutti {

enum class IdleAction : std::uint8_t { spin, yield, sleep };

class IdlePolicy {
 public:
  explicit IdlePolicy(const Idle& idle)
      : spin_ns_(static_cast<std::uint64_t>(idle.spin.count())),
        yield_ns_(static_cast<std::uint64_t>(idle.yield.count())),
        sleep_(idle.sleep) {}

  /// A pass got on with something: more is likely to come soon.
  void worked() {
    idle_ = false;
    slept_ = false;
  }

  /// A pass found only that bytes have landed. They keep awake who is awake; but who was woken by
  /// them may sleep on: a heartbeat is not followed by anything.
  void landed() {
    if (!slept_) idle_ = false;
  }

  /// A pass at `now_ns` found nothing.
  [[nodiscard]] IdleAction next(std::uint64_t now_ns) {
    if (!idle_) {
      idle_ = true;
      since_ns_ = now_ns;
    }
    const std::uint64_t idle_ns = now_ns - since_ns_;
    if (idle_ns < spin_ns_) return IdleAction::spin;
    if (idle_ns < spin_ns_ + yield_ns_) return IdleAction::yield;
    if (sleep_) {
      slept_ = true;
      return IdleAction::sleep;
    }
    return yield_ns_ == 0 ? IdleAction::spin : IdleAction::yield;
  }

 private:
  std::uint64_t spin_ns_;
  std::uint64_t yield_ns_;
  bool sleep_;
  bool idle_ = false;
  bool slept_ = false;
  std::uint64_t since_ns_ = 0;
};

}  // namespace tutti
