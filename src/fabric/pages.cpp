#include "fabric/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/memory_advice.hpp"
#include "base/system_error.hpp"
#include "fabric/freeze.hpp"

namespace tutti {

Result<Pages> Pages::map(std::size_t bytes, int protection) {
  void* const memory =
      ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::unexpected<Error> error =
        fail_system("cannot get " + std::to_string(bytes) + " bytes of memory for a member's row");
    error.error().message += "; " + memory_advice();
    return error;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return Pages({static_cast<std::byte*>(memory), bytes}, (bytes + page - 1) / page * page);
}

Result<Pages> Pages::writable(std::size_t bytes) { return map(bytes, PROT_READ | PROT_WRITE); }

Result<Pages> Pages::read_only(std::size_t bytes) { return map(bytes, PROT_READ); }

Result<void> Pages::freeze() { return freeze_mapping({bytes_.data(), mapped_}); }

Pages::~Pages() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), mapped_);
}

}  // namespace tutti
