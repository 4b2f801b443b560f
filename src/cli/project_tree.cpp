#include "cli/project_tree.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kTextEndings = {".cpp", ".hpp",   ".h",   ".md",
                                                          ".py",  ".cmake", ".txt", ".json"};
constexpr std::array<std::string_view, 2> kSkippedFolders = {"build", ".git"};

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The commit of a branch that has no file of its own.
std::string packed_commit(const std::string& branch) {
  std::ifstream file(".git/packed-refs");
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with(" " + branch)) return line.substr(0, line.find(' '));
  }
  return {};
}

}  // namespace

bool in_project_tree() {
  std::ifstream file("CMakeLists.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("project(tutti")) return true;
  }
  return false;
}

std::vector<fs::path> project_text_files() {
  std::vector<fs::path> files;
  std::error_code error;
  auto at = fs::recursive_directory_iterator(".", error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path name = at->path().filename();
    std::error_code unreadable;  // such a file is none of ours
    if (at->is_directory(unreadable)) {
      if (std::ranges::find(kSkippedFolders, name.native()) != kSkippedFolders.end()) {
        at.disable_recursion_pending();
      }
    } else if (at->is_regular_file(unreadable) &&
               std::ranges::find(kTextEndings, name.extension().native()) != kTextEndings.end()) {
      files.push_back(at->path().lexically_normal());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string project_commit() {
  if (!in_project_tree()) return {};
  constexpr std::string_view kReference = "ref: ";
  std::string head = first_line(".git/HEAD");
  if (!head.starts_with(kReference)) return head;
  const std::string branch = head.substr(kReference.size());
  const std::string commit = first_line(fs::path(".git") / branch);
  return commit.empty() ? packed_commit(branch) : commit;
}

}  // namespace tutti::cli
