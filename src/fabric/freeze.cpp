#include "fabric/freeze.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>

#include "base/system_error.hpp"

namespace tutti {
namespace {

/// Copies in ascending order, each word loaded before any after it (acquire; pairs with the
/// owner's release stores): a guard that lies before its data is never newer than the data copied,
/// even if the owner is alive and writing.
void copy_words(const std::byte* from, std::byte* to, std::size_t bytes) {
  const auto* words = reinterpret_cast<const std::atomic<std::uint64_t>*>(from);
  auto* copies = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) {
    copies[i] = words[i].load(std::memory_order_acquire);
  }
}

}  // namespace

Result<void> freeze_mapping(std::span<std::byte> mapping) {
  const std::size_t size = mapping.size();
  void* copy = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) {
    return fail_system("no memory to keep a peer's row of " + std::to_string(size) + " bytes");
  }
  copy_words(mapping.data(), static_cast<std::byte*>(copy), size);
  if (::mprotect(copy, size, PROT_READ) != 0 ||
      ::mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, mapping.data()) == MAP_FAILED) {
    const int error_number = errno;
    ::munmap(copy, size);
    return fail_system("cannot put the copy of a peer's row in its place", error_number);
  }
  return {};
}

}  // namespace tutti
