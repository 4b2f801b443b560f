/// \file window.hpp
/// A segment's file read in pieces: a source of BatchWalk that has a part of it in memory.
///
/// It has kWindowBytes in memory, or one record if that is larger. What it has read stays as it was
/// then: forget() before a look at what a writer may have written since.
/// Threads: one. All calls may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "log/disk.hpp"
#include "log/format.hpp"

namespace tutti::log {

inline constexpr std::size_t kWindowBytes = 1U << 20;

class Window {
 public:
  /// Of the first `size` bytes of the file, which it has; `salt` is that of its header.
  Window(std::unique_ptr<File> file, std::uint64_t size, std::uint64_t salt)
      : file_(std::move(file)), size_(size), salt_(salt) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::optional<RecordHeader> header_at(std::uint64_t offset);
  /// What it has found is valid until the next call.
  [[nodiscard]] std::optional<Found> at(std::uint64_t offset);
  void forget() { bytes_.clear(); }
  /// The first error of the disk: what was not found since may be there.
  [[nodiscard]] const Result<void>& outcome() const { return outcome_; }

 private:
  // Has these bytes in memory, and as many behind them as it reads at once. False: there are fewer.
  bool have(std::uint64_t offset, std::size_t bytes);
  [[nodiscard]] std::span<const std::byte> from(std::uint64_t offset) const {
    return std::span(bytes_).subspan(offset - begin_);
  }

  const std::unique_ptr<File> file_;
  const std::uint64_t size_;
  const std::uint64_t salt_;
  std::vector<std::byte> bytes_;
  std::uint64_t begin_ = 0;  // the offset of these
  Result<void> outcome_{};
};

}  // namespace tutti::log
