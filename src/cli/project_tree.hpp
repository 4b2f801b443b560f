/// \file project_tree.hpp
/// The source tree of this project, if the command was started inside it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tutti::cli {

/// Whether the current directory holds this project's CMakeLists.txt.
[[nodiscard]] bool in_project_tree();

/// The tree's text files (C++, Markdown, CMake, Python) in a fixed order, without what was built.
[[nodiscard]] std::vector<std::filesystem::path> project_text_files();

/// The commit that is checked out, empty outside the tree.
[[nodiscard]] std::string project_commit();

}  // namespace tutti::cli
