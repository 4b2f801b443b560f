/// \file held_input.hpp
/// A member's standard input: a file whose last line is held back until release. Until then the
/// groups do not end, so a member that comes later can join.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

class HeldInput {
 public:
  [[nodiscard]] static Result<std::unique_ptr<HeldInput>> open(const std::filesystem::path& path);
  HeldInput(const HeldInput&) = delete;
  HeldInput& operator=(const HeldInput&) = delete;
  /// Discards what was not read.
  ~HeldInput();

  /// Bytes of the last line; 0 if the file is empty.
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }
  /// For the member.
  [[nodiscard]] const UniqueFd& reading_end() const { return reading_end_; }
  /// Once the member has its copy: its end, and no other, is then the end of the input.
  void close_reading_end() { reading_end_ = UniqueFd(); }
  /// Lets the last line go, once.
  void let_go() {
    may_go_.store(true);
    may_go_.notify_one();
  }

 private:
  HeldInput() = default;
  void send_all(std::uint64_t held_from);
  [[nodiscard]] bool send_until(std::uint64_t end);

  UniqueFd file_;
  UniqueFd reading_end_;
  UniqueFd writing_end_;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t sent_ = 0;
  std::atomic<bool> may_go_{false};
  std::jthread sender_;
};

}  // namespace tutti::cli
