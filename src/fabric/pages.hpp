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

  Pages(Pages&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit Pages(std::span<std::byte> bytes) : bytes_(bytes) {}
  static Result<Pages> map(std::size_t bytes, int protection);

  std::span<std::byte> bytes_;
};

}  // namespace tutti
