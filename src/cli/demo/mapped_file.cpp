#include "cli/demo/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/memory_advice.hpp"
#include "base/unique_fd.hpp"

namespace tutti::cli {
namespace fs = std::filesystem;

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
