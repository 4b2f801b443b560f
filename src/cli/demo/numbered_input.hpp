/// \file numbered_input.hpp
/// A member's standard input: lines "PREFIX 0", "PREFIX 1", ... that come at a steady rate, so that
/// the member is killed in the middle of them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct NumberedLines {
  std::string prefix;
  std::uint64_t burst = 1;  ///< so many lines every 2 ms
  std::uint64_t count = 0;  ///< then the input ends, once let_end() was called; 0: it never does
};

class NumberedInput {
 public:
  [[nodiscard]] static Result<std::unique_ptr<NumberedInput>> start(NumberedLines lines);
  NumberedInput(const NumberedInput&) = delete;
  NumberedInput& operator=(const NumberedInput&) = delete;
  /// Waits until what the member has not read is refused: it has ended, or reads on.
  ~NumberedInput();

  /// For the member.
  [[nodiscard]] const UniqueFd& reading_end() const { return reading_end_; }
  /// Once the member has its copy: when the member has ended, nobody reads any more.
  void close_reading_end() { reading_end_ = UniqueFd(); }
  /// Until then the group does not end, so a member that comes later can join.
  void let_end() {
    may_end_.store(true);
    may_end_.notify_one();
  }

 private:
  explicit NumberedInput(NumberedLines lines) : lines_(std::move(lines)) {}
  void send_all(const std::stop_token& told);
  [[nodiscard]] bool send(const std::string& text) const;

  const NumberedLines lines_;
  UniqueFd reading_end_;
  UniqueFd writing_end_;
  std::atomic<bool> may_end_{false};
  std::jthread sender_;
};

}  // namespace tutti::cli
