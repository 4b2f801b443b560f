#include "cli/demo/folder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/memory_advice.hpp"
#include "base/unique_fd.hpp"

namespace tutti::cli {
namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  std::string name = (parent / "tutti-demo-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return fail(ErrorCode::system, "cannot make a temporary folder in " + parent.string() + ": " +
                                       std::strerror(errno) + "; set TMPDIR to another folder");
  }
  return TemporaryFolder(name);
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty() || kept_) return;
  std::error_code ignored;  // nobody is left to be told
  fs::remove_all(path_, ignored);
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) {
    return fail(ErrorCode::system, "cannot read " + path.string() + ": " + std::strerror(errno));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) {
    const bool full = errno == ENOMEM;
    return fail(ErrorCode::system, "cannot map " + std::to_string(size) + " bytes of " +
                                       path.string() + ": " + std::strerror(errno) +
                                       (full ? "; " + memory_advice() : std::string()));
  }
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace tutti::cli
