#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "base/system_error.hpp"

namespace tutti {

Result<std::uint64_t> random_u64() {
  std::uint64_t value = 0;
  while (value == 0) {
    if (::getrandom(&value, sizeof value, 0) < 0 && errno != EINTR) {
      return fail_system("cannot get random numbers");
    }
  }
  return value;
}

}  // namespace tutti
