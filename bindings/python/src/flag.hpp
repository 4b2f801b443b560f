/// \file flag.hpp
/// A descriptor that is readable while something is so: for loops that wait for descriptors.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "python.hpp"

namespace tutti::python {

/// Any thread. Level-triggered.
class Flag {
 public:
  Flag() = default;
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  ~Flag() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] Result<void> open() {
    descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor_ >= 0) return {};
    return fail(ErrorCode::system, std::string("no descriptor for what a node tells: ") +
                                       std::strerror(errno) + "; raise the limit of open files");
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  void raise() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = ::write(descriptor_, &one, sizeof one);
  }
  void lower() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(descriptor_, &count, sizeof count);
  }

 private:
  int descriptor_ = -1;
};

}  // namespace tutti::python
