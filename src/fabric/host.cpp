/// \file host.cpp
#include "fabric/host.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/random.hpp"
#include "base/unique_fd.hpp"

namespace tutti {

HostIdentity this_host() {
  HostIdentity host;
  host.user = ::geteuid();
  struct stat status{};
  const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!file || ::stat("/proc/self/ns/net", &status) != 0) return host;
  host.network_namespace = status.st_ino;
  std::array<char, 36> text{};
  if (::read(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    host.boot_id.assign(text.data(), text.size());
  }
  return host;
}

Result<std::string> random_socket_name() {
  const Result<std::uint64_t> high = random_u64();
  if (!high) return std::unexpected(high.error());
  const Result<std::uint64_t> low = random_u64();
  if (!low) return std::unexpected(low.error());
  const auto hex = [](std::uint64_t value) {
    std::string text;
    for (unsigned shift = 64; shift > 0; shift -= 4) {
      text.push_back("0123456789abcdef"[(value >> (shift - 4)) & 0xfU]);
    }
    return text;
  };
  return "tutti-" + hex(*high) + hex(*low);
}

}  // namespace tutti
