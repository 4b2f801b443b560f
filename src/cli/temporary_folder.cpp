#include "cli/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace tutti::cli {
namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::create(const std::string& name, fs::path parent) {
  const bool chosen = !parent.empty();
  std::error_code error;
  if (!chosen) parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string path = (parent / (name + "-XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    return fail(ErrorCode::system, "cannot make a temporary folder in " + parent.string() + ": " +
                                       std::strerror(errno) +
                                       (chosen ? "" : "; set TMPDIR to another folder"));
  }
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty() || kept_) return;
  std::error_code ignored;  // nobody is left to be told
  fs::remove_all(path_, ignored);
}

}  // namespace tutti::cli
