/// \file mapped_file.hpp
/// The demo's files, to be compared.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::cli {

/// A file's contents in memory, read-only.
class MappedFile {
 public:
  [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view text() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}
  const char* data_;  // null: empty
  std::size_t size_;
};

}  // namespace tutti::cli
