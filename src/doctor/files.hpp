/// \file files.hpp
/// Small files of the system, as the kernel shows them under /proc and /sys.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::doctor {

/// The file's text without white space at its end; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> text_of(const std::filesystem::path& file);

/// What follows `key` on the first line that begins with it, without white space around it.
[[nodiscard]] std::optional<std::string> field_of(std::string_view text, std::string_view key);

/// The number that the text begins with, after blanks.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text, int base = 10);

/// A list of numbers such as "0-2,5"; what is not understood is left out.
[[nodiscard]] std::vector<unsigned> numbers_of(std::string_view list);

/// Names in a folder, sorted as people would ("mlx5_2" before "mlx5_10"); none if it is not there.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace tutti::doctor
