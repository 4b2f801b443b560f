#include "fabric/ofi/library.hpp"

#include <dlfcn.h>

#include <string>

#include "base/assert.hpp"

namespace tutti::ofi {
namespace {

constexpr const char* kFile = "libfabric.so.1";
constexpr std::uint32_t kOldest = FI_VERSION(1, 17);

std::unexpected<Error> missing(const std::string& why) {
  return fail(ErrorCode::system, "cannot load libfabric: " + why +
                                     "; install it (libfabric1 of Debian 12), or use another "
                                     "fabric, such as 'tcp'");
}

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

Result<Library> load_library(const char* file) {
  void* const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return missing(::dlerror());
  Library out;
  const bool whole =
      find(handle, "fi_version", out.version) && find(handle, "fi_getinfo", out.getinfo) &&
      find(handle, "fi_dupinfo", out.dupinfo) && find(handle, "fi_freeinfo", out.freeinfo) &&
      find(handle, "fi_fabric", out.fabric) && find(handle, "fi_strerror", out.strerror);
  if (!whole) return missing(::dlerror());
  const std::uint32_t version = out.version();
  if (FI_VERSION_LT(version, kOldest)) {
    return missing(std::string(file) + " is version " + std::to_string(FI_MAJOR(version)) + "." +
                   std::to_string(FI_MINOR(version)) + ", needed is 1.17 or later");
  }
  return out;
}

const Result<Library>& library() {
  static const Result<Library> at_first_use = load_library(kFile);
  return at_first_use;
}

const Library& loaded() {
  TUTTI_ASSERT(library().has_value());
  return *library();
}

}  // namespace tutti::ofi
