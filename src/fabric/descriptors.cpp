#include "fabric/descriptors.hpp"

#include <cerrno>
#include <utility>

#include "base/system_error.hpp"

namespace tutti {

Result<std::vector<UniqueFd>> reserve_descriptors(std::size_t count, int any,
                                                  const std::string& what) {
  std::vector<UniqueFd> reserved;
  while (reserved.size() < count) {
    UniqueFd one = duplicate(any);
    if (!one && lacks_descriptors(errno)) {
      return fail(kNoDescriptor, what + ": " + kFreeDescriptors);
    }
    if (!one) return fail_system(what);
    reserved.push_back(std::move(one));
  }
  return reserved;
}

}  // namespace tutti
