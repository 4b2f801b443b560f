/// \file log_queue.hpp
/// Lines of a log that wait for their reader, in bounded memory.
/// Invariants: LQ1 lines leave in the order in which they came. LQ2 at most kBytesMax wait, but for
/// a single longer line: the oldest give way, for the newest say how it stands. LQ3 whoever takes a
/// line learns how many are missing before it. Threads: one at a time.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "tutti/options.hpp"

namespace tutti {

class LogQueue {
 public:
  static constexpr std::size_t kBytesMax = 256 * 1024;

  struct Line {
    LogLevel level = LogLevel::info;
    std::string text{};
    std::uint64_t missing = 0;  ///< lines that were dropped before this one
  };

  void push(LogLevel level, std::string text) {
    bytes_ += text.size();
    lines_.push_back({.level = level, .text = std::move(text)});
    while (bytes_ > kBytesMax && lines_.size() > 1) {
      bytes_ -= lines_.front().text.size();
      lines_.pop_front();
      ++missing_;
    }
  }

  [[nodiscard]] bool empty() const { return lines_.empty(); }

  /// The oldest line; only if it is not empty().
  [[nodiscard]] Line take() {
    Line line = std::move(lines_.front());
    line.missing = std::exchange(missing_, 0);
    bytes_ -= line.text.size();
    lines_.pop_front();
    return line;
  }

 private:
  std::deque<Line> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t missing_ = 0;
};

}  // namespace tutti
