/// \file pages.hpp
/// Zeroed memory straight from the kernel, of which only what is written takes room: replicas of
/// rows, and the row that a slot without a peer shows.
#pragma once
#include <cstddef>
#include <span>
#include <utility>

#include "tutti/error.hpp"

namespace tutti {

class Pages {
 public:
  [[nodiscard]] static Result<Pages> writable(std::size_t bytes);
  [[nodiscard]] static Result<Pages> read_only(std::size_t bytes);

  Pages(Pages&& other) noexcept : bytes_(std::exchange(other.bytes_, {})), mapped_(other.mapped_) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

  /// The bytes change no more, whoever else can write them: see freeze_mapping().
  [[nodiscard]] Result<void> freeze();

 private:
  Pages(std::span<std::byte> bytes, std::size_t mapped) : bytes_(bytes), mapped_(mapped) {}
  static Result<Pages> map(std::size_t bytes, int protection);

  std::span<std::byte> bytes_;
  std::size_t mapped_;  // bytes_, up to the end of its last page
};

}  // namespace tutti
