/// \file pauses.hpp
/// How long a client waits before it calls the next relay, or asks again for what its relay does
/// not know yet.
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>

namespace tutti::client {

class Pauses {
 public:
  static constexpr std::chrono::nanoseconds kSteady = std::chrono::milliseconds(100);
  static constexpr std::chrono::nanoseconds kFirst = std::chrono::milliseconds(20);
  static constexpr std::chrono::nanoseconds kMost = std::chrono::seconds(2);

  /// `stood`: how long the connection that ended stood since its welcome; empty: it had none. One
  /// that stood for kSteady ended because its relay did: the next one is called at once. What ends
  /// sooner may end again and again: the pause grows, as where there was no welcome.
  [[nodiscard]] std::chrono::nanoseconds next(std::optional<std::chrono::nanoseconds> stood) {
    const bool was_steady = stood && *stood >= kSteady;
    pause_ = was_steady ? std::chrono::nanoseconds(0) : std::clamp(pause_ * 2, kFirst, kMost);
    return pause_;
  }

 private:
  std::chrono::nanoseconds pause_{0};
};

}  // namespace tutti::client
