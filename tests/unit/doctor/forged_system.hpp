/// \file forged_system.hpp
/// A folder with files in it as the kernel would show them.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tutti::doctor {

class ForgedSystem {
 public:
  ForgedSystem() {
    std::string name = ::testing::TempDir() + "tutti-doctor-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  ~ForgedSystem() { std::filesystem::remove_all(root_); }
  ForgedSystem(const ForgedSystem&) = delete;
  ForgedSystem& operator=(const ForgedSystem&) = delete;

  void put(std::string_view path, std::string_view text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void remove(std::string_view path) const { std::filesystem::remove_all(root_ / path); }

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace tutti::doctor
