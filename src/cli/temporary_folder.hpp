/// \file temporary_folder.hpp
/// A folder that is removed at the end, unless a person should look into it.
#pragma once
#include <filesystem>
#include <string>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::cli {

class TemporaryFolder {
 public:
  /// A new one whose name begins with `name`: in `parent`, or, if that is empty, under $TMPDIR or
  /// /tmp.
  [[nodiscard]] static Result<TemporaryFolder> create(const std::string& name,
                                                      std::filesystem::path parent = {});

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Does not remove it.
  void keep() { kept_ = true; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  bool kept_ = false;
};

}  // namespace tutti::cli
