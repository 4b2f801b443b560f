/// \file text.hpp
/// The text that a demo's members send: real files, dealt to the members in turn.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tutti/error.hpp"

namespace tutti::cli {

/// One member's part.
struct MemberText {
  std::string member;
  std::filesystem::path file;  ///< its input, ready made
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;  ///< without newlines
  std::uint64_t longest_line = 0;
};

struct Text {
  std::vector<MemberText> parts;  ///< one per member
  std::size_t files = 0;          ///< how many different ones
  std::uint64_t file_bytes = 0;   ///< of those, once each
  std::uint64_t repeats = 1;      ///< how many times each is sent

  [[nodiscard]] std::uint64_t lines() const;
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t longest_line() const;
};

/// Deals `files` to the members in turn (again from the first if there are fewer files than
/// members) and writes each member's input into `folder`. With `repeats` 0 they are repeated until
/// rates mean something.
[[nodiscard]] Result<Text> deal_text(const std::vector<std::filesystem::path>& files,
                                     const std::vector<std::string>& members, std::uint64_t repeats,
                                     const std::filesystem::path& folder);

}  // namespace tutti::cli
