/// \file log_queue.hpp
/// Lines of the log that wait for standard error, in bounded memory.
/// Invariants: Q1 lines leave in the order in which they came. Q2 at most kBytesMax wait, but for a
/// single longer line: the oldest give way, for the newest say how it stands. Q3 whoever takes a
/// line learns how many are missing before it. Threads: one at a time.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace tutti::cli {

class LogQueue {
 public:
  static constexpr std::size_t kBytesMax = 256 * 1024;

  struct Line {
    std::uint64_t missing = 0;  ///< lines that were dropped before this one
    std::string text;
  };

  void push(std::string line) {
    bytes_ += line.size();
    lines_.push_back(std::move(line));
    while (bytes_ > kBytesMax && lines_.size() > 1) {
      bytes_ -= lines_.front().size();
      lines_.pop_front();
      ++missing_;
    }
  }

  [[nodiscard]] bool empty() const { return lines_.empty(); }

  /// The oldest line; only if it is not empty().
  [[nodiscard]] Line take() {
    Line line{std::exchange(missing_, 0), std::move(lines_.front())};
    bytes_ -= line.text.size();
    lines_.pop_front();
    return line;
  }

 private:
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t missing_ = 0;
};

}  // namespace tutti::cli
