/// \file warnings.hpp
/// Limits how often the bootstrap says the same kind of thing: strangers must not fill a log, nor
/// hide one thing behind twenty others.
///
/// Of each kind the first is said at once. What follows within kPeriod is held back: its newest is
/// said when that time is over, with the number of those it stands for. Pure: time is given.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tutti {

class Warnings {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPeriod{1};

  explicit Warnings(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

  /// There are a few kinds, none of a stranger's making.
  void warn(const std::string& kind, std::string text, Time now);

  /// When flush() has something to say; empty if nothing is held back.
  [[nodiscard]] std::optional<Time> due() const;

  /// Says what was held back for kPeriod.
  void flush(Time now);

 private:
  struct Kind {
    Time said{};
    std::uint64_t held = 0;
    std::string newest{};  // of those held back
  };

  std::function<void(const std::string&)> say_;
  std::map<std::string, Kind> kinds_;
};

}  // namespace tutti
