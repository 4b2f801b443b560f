/// \file log_folder.hpp
/// Where a measured member logs: in a folder of its name, which is removed at the end if the
/// measurement has made it. What was there before stays, and is the member's to refuse. The parent
/// has one for each member on its host, and each member has one, for it may be on another.
#pragma once
#include <filesystem>
#include <string>
#include <system_error>

namespace tutti::cli {

class LogFolder {
 public:
  LogFolder(const std::string& state_dir, const std::string& member)
      : path_(std::filesystem::path(state_dir) / member) {
    std::error_code unknown;
    made_here_ = !std::filesystem::exists(path_, unknown) && !unknown;
  }
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;
  ~LogFolder() {
    std::error_code ignored;  // nobody is left to be told
    if (made_here_) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
  bool made_here_ = false;
};

}  // namespace tutti::cli
