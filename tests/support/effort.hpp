/// \file effort.hpp
/// How long a test of races tries. Each round passes the processor from thread to thread; where
/// other programs compute as well, that takes milliseconds instead of microseconds.
#pragma once
#include <chrono>

namespace tutti::testing {

/// Says when a test has tried for long enough, however few its rounds were: a loop with it does a
/// first round always, and asserts the same of each.
class Effort {
 public:
  [[nodiscard]] bool spent() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(10);
};

}  // namespace tutti::testing
