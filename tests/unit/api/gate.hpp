/// \file gate.hpp
/// Where a callback of a test is held up, and what a node tells a person meanwhile.
#pragma once
#include <atomic>
#include <latch>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/options.hpp"

namespace tutti {

/// Once shut, the first that passes is held up until it is opened.
class Gate {
 public:
  void pass() {
    if (!shut_.exchange(false)) return;
    reached_ = true;
    opened_.wait();
  }
  void shut() { shut_ = true; }
  /// It must outlive whoever is held up. Idempotent.
  void open() {
    if (!open_.exchange(true)) opened_.count_down();
  }
  [[nodiscard]] bool reached() const { return reached_.load(); }

 private:
  std::atomic<bool> shut_{false};
  std::atomic<bool> reached_{false};
  std::atomic<bool> open_{false};
  std::latch opened_{1};
};

/// Any thread.
class LogBook {
 public:
  /// For NodeOptions::log; the book outlives the node.
  [[nodiscard]] LogCallback callback() {
    return [this](LogLevel level, std::string_view text) { note(level, text); };
  }
  void note(LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (level >= LogLevel::warning) lines_.emplace_back(text);
  }
  /// How many warnings and errors have that in them.
  [[nodiscard]] std::size_t with(std::string_view part) const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const std::string& line : lines_) count += line.find(part) != std::string::npos ? 1 : 0;
    return count;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace tutti
